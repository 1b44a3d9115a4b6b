/**
 * Patterns over texts that are divided by `/`, as paths and most names of build targets are:
 *
 *     *    anything within one part
 *     **   as a whole part: any number of parts, none among them
 *     ?    one character within a part
 *
 * All else stands for itself, dots at the beginning, brackets and braces included; case counts. Written here and not
 * taken from a library, since those make regular expressions of patterns: `*-*-*-*.ts` against a name of a few hundred
 * hyphens, which anybody may push, takes such a one seconds. This one costs at most a pattern's length times a text's.
 */
export type Glob = (parts: readonly string[]) => boolean;

/** What a glob looks at: divide a text once, match it often. */
export const partsOf = (text: string): readonly string[] => text.split("/");

const ANY_PARTS = "**";

export function globOf(pattern: string): Glob {
  const wanted = partsOf(pattern);
  return (parts) => matchesParts(wanted, parts);
}

/**
 * What stands between two `**` is found as early as it can be: that leaves most for what follows, so of all the `**`
 * only the last one is ever tried anew.
 */
function matchesParts(wanted: readonly string[], parts: readonly string[]): boolean {
  let at = 0;
  let next = 0;
  let lastAny = -1;
  let resumeAt = 0;
  while (at < parts.length) {
    const one = wanted[next];
    if (one === ANY_PARTS) {
      lastAny = next++;
      resumeAt = at;
    } else if (one !== undefined && matchesPart(one, parts[at] ?? "")) {
      next++;
      at++;
    } else {
      if (lastAny < 0) return false;
      next = lastAny + 1;
      at = ++resumeAt;
    }
  }
  return wanted.slice(next).every((one) => one === ANY_PARTS);
}

/** The same within one part, where `*` is any number of characters. */
function matchesPart(wanted: string, part: string): boolean {
  let at = 0;
  let next = 0;
  let lastStar = -1;
  let resumeAt = 0;
  while (at < part.length) {
    const one = wanted[next];
    if (one === "*") {
      lastStar = next++;
      resumeAt = at;
    } else if (one === "?") {
      next++;
      at += lengthAt(part, at);
    } else if (one !== undefined && one === part[at]) {
      next++;
      at++;
    } else {
      if (lastStar < 0) return false;
      next = lastStar + 1;
      at = ++resumeAt;
    }
  }
  while (wanted[next] === "*") next++;
  return next === wanted.length;
}

/** Units of the character there: those beyond the first 65,536 take two. */
const lengthAt = (text: string, at: number): number => ((text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1);
