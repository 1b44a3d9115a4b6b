/** What the person at the terminal has to change. The message is one line and says what to do; no stack is shown. */
export class CannotStart extends Error {
  override readonly name = "CannotStart";
}

/** One line for any error. */
export const oneLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).replaceAll(/\s+/gu, " ").trim();
