/** Reads what is not well-formed XML as far as it makes sense. */
import { Parser } from "htmlparser2";
import { type Collector, createCollector } from "./collector.ts";
import { elementOf } from "./elements.ts";
import type { Place } from "./issues.ts";
import type { Source } from "./source.ts";
import { printable } from "./text.ts";

/** Takes what is not JUnit's for empty: a stack trace may hold hundreds of `<init>`, which nobody closes. */
class OwnElements extends Parser {
  protected override isVoidElement(name: string): boolean {
    return elementOf(name) === "OTHER";
  }
}

export function readLeniently({ pieces, start }: Source): Collector {
  const text = Array.from(pieces()).join("");
  const body = afterDoctype(text);
  const placeAt = placesIn(text, start);
  const parser = new OwnElements(
    {
      onattribute: () => collector.attribute(),
      onopentag: (name, attributes) => {
        for (const key in attributes) attributes[key] = printable(attributes[key] ?? "");
        collector.open(name, attributes);
      },
      ontext: (piece) => {
        if (collector.wantsText()) collector.text(printable(piece));
      },
      onclosetag: () => collector.close(),
    },
    { xmlMode: true },
  );
  let isAtEnd = false;
  const collector = createCollector(() => placeAt(isAtEnd ? text.length - 1 : body + parser.startIndex));
  for (let at = body; at < text.length && !collector.isFull(); at += PIECE_CHARACTERS)
    parser.write(text.slice(at, at + PIECE_CHARACTERS));
  isAtEnd = true;
  // Not `parser.end()`, which would close what is open: a case in the midst of which the file ends is not a closed one.
  collector.end();
  return collector;
}

const PIECE_CHARACTERS = 64 * 1024;

/** Lines and columns of indices that only grow. The end is that of the last character. */
function placesIn(text: string, start: Place): (index: number) => Place {
  let { line } = start;
  let lineStart = 1 - start.column;
  // Kept from one call to the next, so that a file of one long line is searched once.
  let lineEnd = text.indexOf("\n");
  return (index) => {
    while (lineEnd >= 0 && lineEnd < index) {
      line += 1;
      lineStart = lineEnd + 1;
      lineEnd = text.indexOf("\n", lineStart);
    }
    return { line, column: Math.max(1, index - lineStart + 1) };
  };
}

/**
 * Where the content begins: behind a document type with definitions of its own, which the parser would take for content
 * from their first `>` on. Without one it is 0.
 */
function afterDoctype(text: string): number {
  const at = doctypeAt(text);
  if (at < 0) return 0;
  let brackets = 0;
  const mark = /["'[\]>]|<!--|<\?/gu;
  mark.lastIndex = at;
  for (let found = mark.exec(text); found !== null; found = mark.exec(text)) {
    const end = ENDS.get(found[0]);
    if (end !== undefined) {
      const closed = text.indexOf(end, mark.lastIndex);
      if (closed < 0) return 0;
      mark.lastIndex = closed + end.length;
    } else if (found[0] === "[") brackets += 1;
    else if (found[0] === "]") brackets -= 1;
    else if (brackets <= 0) return mark.lastIndex;
  }
  return 0;
}

const ENDS: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ["'", "'"],
  ["<!--", "-->"],
  ["<?", "?>"],
]);

/** Of a document type before the first element, past comments and instructions; -1 where there is none. */
function doctypeAt(text: string): number {
  for (let at = text.indexOf("<"); at >= 0; ) {
    if (text.startsWith("<!DOCTYPE", at)) return at;
    const [opening, end] = text.startsWith("<!--", at) ? ["<!--", "-->"] : ["<?", "?>"];
    if (!text.startsWith(opening, at)) return -1;
    const closed = text.indexOf(end, at + opening.length);
    at = closed < 0 ? -1 : text.indexOf("<", closed + end.length);
  }
  return -1;
}
