/**
 * Words in the markdown of a page. Titles, branches, names of checks and messages come from people: what they write is
 * to be read there, and is never markdown, HTML, a mention, a reference or a link.
 */

const LONGEST = 300;

/** Control characters, marks of direction, and whatever else cannot be seen. */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}]+/gu;

/** One line as it is, for places that show plain text. */
export function line(text: string, most = LONGEST): string {
  const seen = text.toWellFormed().replaceAll(UNSEEN, " ").replaceAll(/ {2,}/gu, " ").trim();
  return seen.length <= most
    ? seen
    : `${seen
        .slice(0, most - 1)
        .toWellFormed()
        .replace(/\uFFFD$/u, "")}…`;
}

/** Breaks what GitHub links by itself, and is not seen: a backslash does not keep it from doing so. */
const BREAK = "\u200B";
const LINKED = /@|#(?=\d)|gh-(?=\d)|:(?=\/\/)|www(?=\.)/giu;
const MARKS = /[\\`*_[\]<>&~|$]/gu;
/** What makes a heading, a list or a rule of a line that begins with it. */
const AT_START = /^(?:[#+=-]|\d+(?=[.)]))/u;

/** A sentence with other people's words in it. */
export function plain(text: string, most = LONGEST): string {
  const marked = line(text, most).replaceAll(MARKS, String.raw`\$&`).replaceAll(LINKED, `$&${BREAK}`);
  return marked.replace(AT_START, (start) => (/\d/u.test(start) ? `${start}\\` : `\\${start}`));
}

/** A name: a branch, a check. Nothing means anything in it but the mark that ends it. */
export const code = (name: string): string => `\`${line(name.replaceAll("`", "'"), 200) || " "}\``;

/** A link where the address is one that a browser may be sent to, else the text alone, which is markdown already. */
export function linked(text: string, url: string | null): string {
  const address = url === null || url.length > 2000 ? null : URL.parse(url);
  if (address === null || !/^https?:$/u.test(address.protocol)) return text;
  return `[${text}](<${address.href.replaceAll("\\", "%5C").replaceAll("<", "%3C").replaceAll(">", "%3E")}>)`;
}
