const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENS = new Set([0x5b, 0x7b]);
const CLOSES = new Set([0x5d, 0x7d]);

/**
 * Whether JSON text nests deeper than `max`, in one pass and no memory. Asked before parsing, because the parser's
 * reviver recurses, and a body of 20 MiB of `[` would be millions of arrays before it is refused.
 */
export function nestsDeeperThan(text: string, max: number): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) at = endOfString(text, at);
    else if (OPENS.has(unit)) depth += 1;
    else if (CLOSES.has(unit)) depth -= 1;
    if (depth > max) return true;
  }
  return false;
}

/** Where the string that begins at `start` ends; the text's end where it never does. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end === -1 ? text.length : end;
}

function isEscaped(text: string, at: number): boolean {
  let before = at - 1;
  while (text.charCodeAt(before) === BACKSLASH) before -= 1;
  return (at - before) % 2 === 0;
}
