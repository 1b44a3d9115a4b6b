/** Reads well-formed XML, up to the first thing that is not. */
import { SaxesParser } from "saxes";
import { type Collector, createCollector } from "./collector.ts";
import type { Place } from "./issues.ts";
import type { Source } from "./source.ts";

export type Strict = { readonly collector: Collector; readonly problem: Problem | null };

export type Problem = {
  readonly at: Place;
  /** In the words of the reader of XML. */
  readonly what: string;
  /** All of the file was read, and something is missing at its end. */
  readonly isAtEnd: boolean;
};

const OPTIONS = { xmlns: false, position: false } as const;

/**
 * Entities of the document's own are never looked up: a reference to one is an error like any other. After an error
 * nothing of the same piece is taken, and no further piece is read.
 */
export function readStrictly({ pieces, start }: Source): Strict {
  const parser = new SaxesParser<typeof OPTIONS>(OPTIONS);
  let end: Place | null = null;
  // A column of the parser is that of the character it read last, as counted from 1.
  const where = (): Place =>
    end ?? {
      line: parser.line + start.line - 1,
      column: Math.max(1, parser.column + (parser.line === 1 ? start.column - 1 : 0)),
    };
  const collector = createCollector(where);
  let problem: Problem | null = null;
  const text = (piece: string): void => {
    if (problem === null) collector.text(piece);
  };
  parser.on("error", ({ message }) => {
    problem ??= { at: where(), what: message.replace(/\.$/u, ""), isAtEnd: end !== null };
  });
  const listen = (): void => {
    // Without a listener the parser does not even cut texts out, and most are only the space between elements.
    if (collector.wantsText()) parser.on("text", text);
    else parser.off("text");
  };
  parser.on("opentag", ({ name, attributes }) => {
    if (problem !== null) return;
    collector.open(name, attributes);
    listen();
  });
  parser.on("closetag", () => {
    if (problem !== null) return;
    collector.close();
    listen();
  });
  parser.on("cdata", text);
  for (const piece of pieces()) {
    if (problem !== null || collector.isFull()) break;
    parser.write(piece);
  }
  // Closing sets the parser back to its beginning.
  end = where();
  if (problem === null && !collector.isFull()) parser.close();
  return { collector, problem };
}
