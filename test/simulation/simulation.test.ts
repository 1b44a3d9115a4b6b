import { expect, test } from "vitest";
import { broken, landingsOf, verdictsOf } from "./verdicts.ts";

/** The first one is simulated in both processes. */
const [TWICE, ...OTHERS] = [7, 8] as const;

test("a few seeds of trouble break no promise, and a seed decides everything: the same one twice makes the same decisions at the same times", async () => {
  const verdicts = await verdictsOf([TWICE, TWICE, ...OTHERS]);
  expect(broken(verdicts)).toEqual([]);
  expect(landingsOf(verdicts)).toBeGreaterThan(3);
  const [once, again] = verdicts.filter(({ seed }) => seed === TWICE);
  expect(once?.fingerprint).toMatch(/^[0-9a-f]{16}$/u);
  expect(again?.fingerprint).toBe(once?.fingerprint);
});
