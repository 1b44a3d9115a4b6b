/**
 * What failures have in common. A failure's text is different at every run: times, ports, addresses, identifiers. With
 * those replaced by what they are, failures of one cause read the same.
 */
export type Failure = {
  readonly type: string | null;
  readonly message: string | null;
  readonly text: string | null;
};

/** Part of every key: whoever changes a rule below raises it, and failures before and after are told apart. */
const VERSION = 1;

/** Characters of a line that are looked at: enough that what is kept does not depend on where it was cut. */
const LINE_MAX = 2_000;
const SUMMARY_MAX = 500;
const TYPE_MAX = 200;

/**
 * A failure in one line, at most 500 characters: the first line of its text that says something, else of its message,
 * else of its type, with everything that varies replaced. "" when it says nothing at all.
 *
 * Every expression takes time in proportion to the line, which is capped before: failure texts are anybody's.
 */
export function summaryOf({ type, message, text }: Failure): string {
  const line = firstLineOf(text) || firstLineOf(message) || firstLineOf(type);
  const replaced = RULES.reduce((so, [expression, placeholder]) => so.replace(expression, placeholder), line);
  return cut(numbered(replaced), SUMMARY_MAX);
}

/**
 * What the key of a failure is the hash of; two failures of one cause have the same.
 *
 * @param failure the summary is that of `summaryOf`
 */
export const fingerprintOf = ({ type, summary }: { readonly type: string | null; readonly summary: string }): string =>
  JSON.stringify([VERSION, cut(firstLineOf(type), TYPE_MAX), summary]);

/**
 * With the escape character as it is, written out, replaced, or lost on the way into XML. What follows it is a control
 * sequence, or an operating system command (a title, a link), or a single character (ECMA-48 §5.4, §8.3.89).
 */
const ESCAPE = String.raw`(?:[\u001B\uFFFD]|\\x1[bB]|\\u001[bB]|\\033|\\e|#x1[bB];?)`;
const ANSI = new RegExp(
  String.raw`(?:${ESCAPE}\[|\u009B)[0-?]*[ -/]*[@-~]|\[\d{1,3}(?:;\d{1,3}){0,9}m|\u001B\][^\u0007\u001B]*(?:\u0007|\u001B\\)?|\u001B[@-Z\\^_]?`,
  "gu",
);

const LINE_BREAK = /[\n\r\u2028\u2029]/gu;

/** The first line that is not empty without its colours; "" when there is none. */
function firstLineOf(text: string | null): string {
  if (text === null) return "";
  let begin = 0;
  for (const { index } of text.matchAll(LINE_BREAK)) {
    const line = plain(text, begin, index);
    if (line !== "") return line;
    begin = index + 1;
  }
  return plain(text, begin, text.length);
}

/** A line without its colours, which is the first of the replacements: it decides which line it is. */
const plain = (text: string, begin: number, end: number): string =>
  begin === end ? "" : cut(text.slice(begin, Math.min(end, begin + LINE_MAX)).replace(ANSI, ""), LINE_MAX).trim();

/** Half a character at the cut becomes U+FFFD, as do those that were broken before: the text can be stored anywhere. */
const cut = (text: string, most: number): string => text.slice(0, most).toWellFormed();

const DATE = String.raw`\d{4}[-/]\d\d[-/]\d\d`;
const ZONE = String.raw`(?: ?(?:Z|UTC|GMT)(?![A-Za-z0-9])| ?[+-]\d\d:?\d\d)?`;
const CLOCK = String.raw`\d{1,2}:\d\d:\d\d(?:[.,]\d{1,9})?(?: ?[AaPp][Mm](?![A-Za-z0-9]))?`;
const TIME = new RegExp(
  String.raw`(?<![\w.])(?:${DATE}(?:[T ,]{1,2}${CLOCK}${ZONE}|T\d\d:\d\d${ZONE})?|\d{8}T\d{6}(?:\.\d{1,9})?Z?|${CLOCK}${ZONE})(?![\w])`,
  "gu",
);

/** No part may hold what separates parts, so there is one way to read a path. */
const PATH_PART = String.raw`[^\s/\\"'\x60()\[\]{}<>|:,;*?&=#]+`;
const PATH = new RegExp(
  String.raw`(?<=^|[\s"'\x60(\[{=,;|])(?:file:///?)?(?:[A-Za-z]:)?[/\\]{1,2}(?:${PATH_PART}[/\\]{1,2})*(${PATH_PART})[/\\]*`,
  "gu",
);

const AMOUNT = String.raw`\d+(?:,\d{3})*(?:\.\d+)?`;
/** Single letters only where they are part of the number, as Go writes `1m30.5s`. */
const SHORT_TIME = "ns|[uµμ]s|ms|s|m|h";
const LONG_TIME =
  "ns|[uµμ]s|ms|msec|milliseconds?|microseconds?|nanoseconds?|secs?|seconds?|mins?|minutes?|hrs?|hours?|days?";
const DURATION = new RegExp(
  String.raw`(?<![\w.,])(?:${AMOUNT} ?(?:${LONG_TIME})|(?:${AMOUNT}(?:${SHORT_TIME})(?![A-Za-z]))+)(?!\w)`,
  "gu",
);
const SIZE = new RegExp(String.raw`(?<![\w.,])${AMOUNT}(?: ?(?:[kKMGTP]i?B|bytes?)|[kKMGTP]i?|B)(?!\w)`, "gu");

/** In this order: what an earlier one takes, such as the digits of a time, is no longer there for a later one. */
const RULES: readonly (readonly [expression: RegExp, placeholder: string])[] = [
  [/(?<![0-9a-f])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?![0-9a-f])/giu, "<uuid>"],
  [TIME, "<time>"],
  [/(?<![\w.])\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}:\d{1,5}(?![\w.])/gu, "<ip>:<port>"],
  [/(?<![\w.])\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}(?![\w]|\.\d)/gu, "<ip>"],
  [/(?<=localhost|\[::1?\]|(?<!:)::1?)(?::)\d{1,5}(?!\w)/giu, ":<port>"],
  [/(?<![0-9A-Za-z])0x[0-9a-f]+(?![0-9A-Za-z])/giu, "<address>"],
  [PATH, "$1"],
  [/(?<=\.[A-Za-z]\w{0,9}):\d+(?::\d+)?(?!\w)/gu, ":<line>"],
  [/(?<![0-9A-Za-z])(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,64}(?![0-9A-Za-z])/giu, "<hash>"],
  [DURATION, "<duration>"],
  [SIZE, "<size>"],
  [/(?<![\w.,])\d+(?:\.\d+)? ?%/gu, "<percent>"],
  [/(?<![\w.])\d+(?:\.\d+(?:e[+-]?\d+)?|e[+-]?\d+)(?!\w|\.\d)/giu, "<float>"],
  [/\d{4,}/gu, "<n>"],
];

const PLACEHOLDER = /<(?:uuid|time|ip|port|address|line|hash|duration|size|percent|float|n)>/gu;

/** `<n> is not <n>` becomes `<n1> is not <n2>`; one that stands alone keeps its bare name. */
function numbered(text: string): string {
  const many = new Map<string, number>();
  for (const [placeholder] of text.matchAll(PLACEHOLDER)) many.set(placeholder, (many.get(placeholder) ?? 0) + 1);
  const seen = new Map<string, number>();
  return text.replace(PLACEHOLDER, (placeholder) => {
    if (many.get(placeholder) === 1) return placeholder;
    const nth = (seen.get(placeholder) ?? 0) + 1;
    seen.set(placeholder, nth);
    return `${placeholder.slice(0, -1)}${nth}>`;
  });
}
