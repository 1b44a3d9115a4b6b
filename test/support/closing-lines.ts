/** The last lines of a run: what was skipped and why, and how many tests passed, failed and were skipped. */
import type { Reporter, TestCase, TestModule } from "vitest/node";

const WITHOUT_REASON = "no reason was given";

function skipsOf(tests: readonly TestCase[]): ReadonlyMap<string, number> {
  const skips = new Map<string, number>();
  for (const test of tests) {
    const result = test.result();
    if (result.state !== "skipped") continue;
    const why = result.note ?? WITHOUT_REASON;
    skips.set(why, (skips.get(why) ?? 0) + 1);
  }
  return skips;
}

export default class ClosingLines implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const count = (state: "passed" | "failed" | "skipped"): number =>
      tests.filter((test) => test.result().state === state).length;
    const lines = [...skipsOf(tests)].map(([why, times]) => `Skipped ${times}: ${why}`);
    lines.push(`${count("passed")} passed, ${count("failed")} failed, ${count("skipped")} skipped`);
    process.stdout.write(`${lines.join("\n")}\n`);
  }
}
