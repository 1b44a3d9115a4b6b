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

/**
 * Attributes of one element. Like the dictionary that the library puts them in it has none but its own, `__proto__` and
 * `constructor` included, and it is read and filled in half the time.
 */
class Given {
  [name: string]: string;
}
Object.setPrototypeOf(Given.prototype, null);
Reflect.deleteProperty(Given.prototype, "constructor");

const OPTIONS = { xmlns: false, position: false } as const;

/** Entities of the document's own are never looked up: a reference to one is an error like any other. */
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
  let isListening = false;
  const listen = (): void => {
    // Without a listener the parser does not even cut texts out, and most are only the space between elements.
    if (collector.wantsText() === isListening) return;
    isListening = !isListening;
    if (isListening) parser.on("text", collector.text);
    else parser.off("text");
  };
  parser.on("opentagstart", (tag) => {
    tag.attributes = new Given();
  });
  parser.on("attribute", collector.attribute);
  parser.on("opentag", ({ name, attributes }) => {
    collector.open(name, attributes);
    listen();
  });
  parser.on("closetag", () => {
    collector.close();
    listen();
  });
  parser.on("cdata", collector.text);
  let problem: Problem | null = null;
  parser.on("error", (error) => {
    problem = { at: where(), what: error.message.replace(/\.$/u, ""), isAtEnd: end !== null };
    // The parser would go on, and make an error of every character, attribute or end to come.
    throw error;
  });
  try {
    for (const piece of pieces()) {
      if (collector.isFull()) break;
      parser.write(piece);
    }
    // Closing sets the parser back to its beginning.
    end = where();
    if (!collector.isFull()) parser.close();
  } catch (error) {
    if (problem === null) throw error;
  }
  return { collector, problem };
}
