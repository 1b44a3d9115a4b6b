import { describe, expect, test } from "vitest";
import type { CodeHost } from "../../../shared/code-host/port.ts";
import { commitSha, entryId } from "../../../shared/kernel/ids.ts";
import type { StoredEntry, TargetsRecord } from "../../../shared/queue/app/ports.ts";
import { computeTargets } from "../../../shared/queue/app/targets.ts";
import { aLoadedQueue, anApp, anEntry, HEAD, KEY } from "./fixture.ts";

const ALL = { kind: "ALL" } as const;
const upload: TargetsRecord = { targets: ALL, source: "UPLOAD", shown: [] };

/** #1 is live, or whoever is given; what the store was asked to keep is told. */
function aQueue({ live, stands }: { readonly live?: StoredEntry | undefined; readonly stands?: TargetsRecord } = {}) {
  const kept: unknown[] = [];
  const app = anApp({
    queues: { entry: async () => live },
    targets: {
      put: async (_org, _repo, prNumber, sha, targets, source) => {
        kept.push([prNumber, sha, targets, source]);
        return stands ?? { targets: { kind: "SET", digest: "d", count: targets.length }, source, shown: [] };
      },
    },
  });
  const host = { impactedTargets: async () => ["web", "api"] } as unknown as CodeHost;
  const effect = { type: "compute-targets", key: "c", entry: entryId("e1"), prNumber: 1, headSha: HEAD } as const;
  return { compute: () => computeTargets(app, host, KEY, effect), kept };
}
const [first] = aLoadedQueue([anEntry(1)]).entries;
const [other] = aLoadedQueue([anEntry(1, { id: entryId("later") })]).entries;
const [pushed] = aLoadedQueue([anEntry(1, { headSha: commitSha("b".repeat(40)) })]).entries;

describe("targets from paths", () => {
  test("are kept as such, and told", async () => {
    const { compute, kept } = aQueue({ live: first });
    expect(await compute()).toEqual({
      type: "targets-computed",
      entry: entryId("e1"),
      headSha: HEAD,
      targets: { kind: "SET", digest: "d", count: 2 },
    });
    expect(kept).toEqual([[1, HEAD, ["web", "api"], "PATHS"]]);
  });

  test("give way to an upload that is there: that is what is told", async () => {
    expect(await aQueue({ live: first, stands: upload }).compute()).toMatchObject({ targets: ALL });
  });

  test.each([
    ["that has gone", undefined],
    ["that was submitted anew", other],
    ["that was pushed to", pushed],
  ])("of an entry %s are neither kept nor told", async (_, live) => {
    const { compute, kept } = aQueue({ live });
    expect(await compute()).toBeNull();
    expect(kept).toEqual([]);
  });
});
