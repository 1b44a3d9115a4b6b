/** Texts of the file as they are kept. */
import { ATTRIBUTE_CHARACTERS_MAX, FAILURE_CHARACTERS_MAX } from "./caps.ts";

/** What XML 1.0 has no place for. */
const CONTROL = "\\x00-\\x08\\x0B\\x0C\\x0E-\\x1F";
// Colours and cursor movements of a terminal, which leave nothing but their letters when only the escape is removed.
const TERMINAL = new RegExp(`\\x1B\\[[0-9;?]{0,40}[A-Za-z]|[${CONTROL}]`, "gu");

/** Without control characters, which only the lenient reader lets through. */
export const printable = (text: string): string => text.replace(TERMINAL, "");

/** An attribute up to 64 KB of it, with an issue where that is not all; "" where it is missing. */
export type Shorten = (attribute: string | undefined) => string;

export const isTooLong = (attribute: string): boolean => attribute.length > ATTRIBUTE_CHARACTERS_MAX;
export const shortened = (attribute: string): string => attribute.slice(0, ATTRIBUTE_CHARACTERS_MAX);

/** Gathers a failure's text up to 64 KB. */
export type Gathered = { readonly add: (text: string) => void; readonly text: () => string | null };

export function gather(onFull: () => void): Gathered {
  const pieces: string[] = [];
  let left = FAILURE_CHARACTERS_MAX;
  return {
    add: (text) => {
      if (text.length > left) onFull();
      if (left > 0) pieces.push(text.slice(0, left));
      left = Math.max(0, left - text.length);
    },
    text: () => {
      const all = pieces.join("");
      return all.trim() === "" ? null : all;
    },
  };
}
