import { expect, test } from "vitest";
import { crashRun } from "../crash/crash.ts";

/** A taste of `npm run test:crash`, which kills at every named point three times. */
test("a busy queue that is killed again and again loses nothing, does nothing twice, leaves nothing behind", async () => {
  const said: string[] = [];
  const report = await crashRun({ seed: 20, kills: 6, say: (line) => said.push(line) });
  expect(report.violations, `kept in ${report.folder}; ${said.join("; ")}`).toEqual([]);
  expect([...report.tally.server.values()].reduce((sum, one) => sum + one, 0)).toBeGreaterThanOrEqual(4);
  expect(report.ends.get("MERGED") ?? 0).toBeGreaterThan(0);
});
