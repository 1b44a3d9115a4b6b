/** Explanations as one line each, for tests that look at all that is told. */
import { expect, it } from "vitest";
import type { ScriptedQueue } from "../../support/queue.ts";

/** All that is told of a pull request: where it is and why, by which kinds of things, what it waits for, what helps. */
export function whole(queue: ScriptedQueue, number: number): string {
  const { position, summary, blockers, waitsFor, whatWouldMoveIt } = queue.explains(number);
  const kinds = blockers.map((one) => `${one.kind}${one.prNumber === null ? "" : ` #${one.prNumber}`}`).join(", ");
  const waits = waitsFor.every((one, at) => one === blockers[at]?.message) ? "" : ` [waits for ${waitsFor.join(", ")}]`;
  return `${position ?? "-"}. ${summary} (${kinds})${waits} -> ${whatWouldMoveIt.join("; ")}`;
}

/** A situation, the queue that is in it, whose explanation is asked for, and what it is. */
export type Case = readonly [string, () => ScriptedQueue, number, string];
export const told = (cases: readonly Case[]): void => {
  it.each(cases)("%s", (_, queue, number, expected) => {
    expect(whole(queue(), number)).toBe(expected);
  });
};
