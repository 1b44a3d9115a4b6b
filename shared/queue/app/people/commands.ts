/**
 * Commands that people write into comments: one to a comment, on its first line. What looks like none is nobody's
 * business; what looks like one and cannot be read is told with all that is wrong with it.
 */
export type Command =
  | { readonly kind: "MERGE"; readonly priority?: number; readonly noBatch?: true; readonly head?: string }
  | { readonly kind: "CANCEL" | "RESTART" | "WHY" };

export type ReadCommand =
  | { readonly ok: true; readonly command: Command }
  /** `what` is for people: a line of plain text, of which some are the author's words. */
  | { readonly ok: false; readonly what: string };

const KINDS: ReadonlyMap<string, Command["kind"]> = new Map([
  ["merge", "MERGE"],
  ["cancel", "CANCEL"],
  ["restart", "RESTART"],
  ["why", "WHY"],
]);

const PRIORITIES: ReadonlyMap<string, number> = new Map([
  ["urgent", 0],
  ["high", 10],
  ["medium", 100],
  ["low", 200],
  ["lowest", 255],
]);
const PRIORITY_MAX = 255;
/** Only who may decide for everybody else may go ahead of everybody else. */
export const URGENT = 0;

/** No command is longer; a line of a megabyte is not even split. */
const LINE_MAX = 500;
/** Together short enough to be shown in full. */
const NAMED_MAX = 5;
const QUOTED_MAX = 24;

/** Four blanks, or a tab, make a block of code of it. */
const COMMAND = /^ {0,3}\/(?<word>[A-Za-z]{1,10})(?<rest>[ \t].*)?$/u;

const firstLine = (text: string): string => text.slice(0, LINE_MAX).split(/[\r\n\u2028\u2029]/u, 1)[0] ?? "";

type Line = { readonly word: string; readonly kind: Command["kind"]; readonly words: readonly string[] };

function lineOf(text: string): Line | undefined {
  const found = COMMAND.exec(firstLine(text).trimEnd())?.groups;
  const word = found?.["word"]?.toLowerCase() ?? "";
  const kind = KINDS.get(word);
  if (kind === undefined) return undefined;
  return { word, kind, words: (found?.["rest"] ?? "").split(/\s+/u).filter(Boolean) };
}

/** Whether a comment is worth a second look. */
export const isCommand = (text: string): boolean => lineOf(text) !== undefined;

export function readCommand(text: string): ReadCommand | undefined {
  const line = lineOf(text);
  if (line === undefined) return undefined;
  const { kind, word, words } = line;
  const read = words.map((one) => (kind === "MERGE" ? optionOf(one) : undefined));
  const unknown = words.filter((_, at) => read[at] === undefined);
  if (unknown.length > 0) return { ok: false, what: refusal(word, kind, unknown) };
  const options = read.filter((one) => one !== undefined);
  if (new Set(options.map((one) => Object.keys(one)[0])).size < options.length)
    return { ok: false, what: `/${word} was given an option twice. ${USAGE[kind]}` };
  return { ok: true, command: kind === "MERGE" ? Object.assign({ kind }, ...options) : { kind } };
}

type Option = { readonly priority: number } | { readonly noBatch: true } | { readonly head: string };

/** The commit that somebody looked at, or how its name begins. */
const HEAD = /^[0-9a-f]{7,64}$/u;

function optionOf(word: string): Option | undefined {
  const [name, value, ...more] = word.toLowerCase().split("=");
  if (name === "--no-batch" && value === undefined) return { noBatch: true };
  if (name === "--head" && value !== undefined && more.length === 0 && HEAD.test(value)) return { head: value };
  if (name !== "--priority" || value === undefined || more.length > 0) return undefined;
  const priority = PRIORITIES.get(value) ?? (/^\d{1,3}$/u.test(value) ? Number(value) : undefined);
  return priority === undefined || priority > PRIORITY_MAX ? undefined : { priority };
}

const USAGE: Readonly<Record<Command["kind"], string>> = {
  MERGE: "It takes --priority=urgent|high|medium|low|<0..255>, --no-batch, and --head=<commit, at least 7 digits>.",
  CANCEL: "It takes no options.",
  RESTART: "It takes no options.",
  WHY: "It takes no options.",
};

const quoted = (word: string): string => {
  const shown = word.replaceAll(/[^\x21-\x7e]/gu, "?");
  return shown.length > QUOTED_MAX ? `${shown.slice(0, QUOTED_MAX)}…` : shown;
};

function refusal(word: string, kind: Command["kind"], unknown: readonly string[]): string {
  const named = unknown.slice(0, NAMED_MAX).map(quoted).join(", ");
  const more = unknown.length > NAMED_MAX ? ` and ${unknown.length - NAMED_MAX} more` : "";
  return `/${word} cannot be done with ${named}${more}. ${USAGE[kind]}`;
}
