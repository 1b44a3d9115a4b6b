import { register } from "prom-client";
import { describe, expect, test } from "vitest";
import { SERIES } from "../../../shared/metrics/series.ts";
import { metricsText } from "../../../shared/metrics/write.ts";
import { aQueue, aSubmission, minutesAgo, noTotals, sample, samplesOf } from "./fixture.ts";

const API_SERIES = [
  ["mq_depth_current", "gauge"],
  ["mq_awaiting_mergeability", "gauge"],
  ["mq_testing_slots_active", "gauge"],
  ["mq_pr_conclusions_1h_total", "gauge"],
  ["mq_pr_restarts_1h_total", "gauge"],
  ["mq_pr_wait_duration_1h_seconds", "histogram"],
  ["mq_pr_test_duration_1h_seconds", "histogram"],
  ["mq_pr_time_in_queue_1h_seconds", "histogram"],
] as const;

describe("the text", () => {
  test("has the names and types that dashboards for this API use", async () => {
    const text = await metricsText([aQueue()]);
    for (const [name, type] of API_SERIES) expect(text).toContain(`# TYPE ${name} ${type}\n`);
    expect(text.match(/^# HELP /gmu)).toHaveLength(Object.keys(SERIES).length);
    expect(text.endsWith("\n")).toBe(true);
  });

  test("is empty without queues", async () => {
    expect(await metricsText([])).toBe("");
  });

  test("a queue in which nothing happens has its zeros, in both lanes", async () => {
    const samples = samplesOf(await metricsText([aQueue()]));
    for (const queue_type of ["main", "bisection"]) {
      expect(samples.get(sample("mq_depth_current", { queue_type }))).toBe("0");
      for (const conclusion of ["merged", "failed", "cancelled"])
        expect(samples.get(sample("mq_pr_conclusions_1h_total", { queue_type, conclusion }))).toBe("0");
    }
    const named = [...samples.keys()];
    for (const line of named) expect(line).toMatch(/repo="acme\/app",branch="main",queue_type="(?:main|bisection)"/u);
    const missing = Object.keys(SERIES).filter((name) => !named.some((line) => line.startsWith(name)));
    expect(missing).toEqual([]);
  });

  test("histograms have exactly the agreed bounds, and add up", async () => {
    const ended = { state: "MERGED", admittedAt: minutesAgo(20), endedAt: minutesAgo(5) } as const;
    const text = await metricsText([aQueue({ submissions: [aSubmission(ended), aSubmission(ended)] })]);
    const name = "mq_pr_time_in_queue_1h_seconds";
    const found = [
      ...text.matchAll(new RegExp(`^${name}_bucket\\{le="([^"]+)",.*queue_type="main"\\} (\\d+)$`, "gmu")),
    ];
    expect(found.map((one) => [one[1], one[2]])).toEqual([
      ...["60", "300", "600"].map((bound) => [bound, "0"]),
      ...["900", "1800", "3600", "5400", "7200", "+Inf"].map((bound) => [bound, "2"]),
    ]);
    const samples = samplesOf(text);
    expect(samples.get(sample(`${name}_sum`))).toBe("1800");
    expect(samples.get(sample(`${name}_count`))).toBe("2");
  });

  test("quotes and backslashes in a branch name are escaped", async () => {
    const samples = samplesOf(await metricsText([aQueue({ branch: 'a"b\\c' })]));
    expect(samples.has(sample("mq_depth_current", { branch: 'a\\"b\\\\c' }))).toBe(true);
  });

  test("the same name on two hosts gives two series, and both say which host", async () => {
    const other = aQueue({ repo: { host: "github.com", owner: "Acme", name: "App" } });
    const samples = samplesOf(await metricsText([aQueue(), other]));
    expect(samples.has(sample("mq_depth_current", { repo: "git.local/acme/app" }))).toBe(true);
    expect(samples.has(sample("mq_depth_current", { repo: "github.com/Acme/App" }))).toBe(true);
  });

  test("nothing of one text is in the next, nor in the registry that all share", async () => {
    const totals = { ...noTotals, merged: 3, landings: 3 };
    const text = async () => samplesOf(await metricsText([aQueue({ totals })]));
    const merged = sample("mainline_pull_requests_concluded_total", { conclusion: "merged" });
    expect((await text()).get(merged)).toBe("3");
    expect((await text()).get(merged)).toBe("3");
    expect(await register.metrics()).toBe("\n");
  });

  test("only counters are named as Prometheus names counters, but for the names that came before", () => {
    const own = Object.entries(SERIES).filter(([name]) => name.startsWith("mainline_"));
    const wrong = own.filter(([name, { type }]) => name.endsWith("_total") !== (type === "counter"));
    expect(wrong).toEqual([]);
  });
});
