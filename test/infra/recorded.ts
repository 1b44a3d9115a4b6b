/** All that every function asked for while it met everything that it can meet. */
import { onGitHub } from "./github-scenario.ts";
import { forgiven, health } from "./health-scenario.ts";
import { keyed } from "./keyed-scenario.ts";
import { queues } from "./queue-scenario.ts";
import { aSite } from "./site.ts";
import { firstWindow, windows } from "./window-scenario.ts";

export type Recorded = ReadonlyMap<string, ReadonlyMap<string, string>>;

export async function recorded(wokenBy: "stream" | "sweep"): Promise<Recorded> {
  const site = await aSite(wokenBy);
  try {
    // Before time is put forward: what is said at GitHub is said by its own clock.
    await onGitHub(site);
    await firstWindow(site);
    // Requests do the same whoever wakes the workers.
    await (wokenBy === "stream" ? health : forgiven)(site);
    await queues(site);
    if (wokenBy === "stream") await keyed(site);
    await windows(site);
    return site.recorder.calls;
  } finally {
    await site.stop();
  }
}

export const together = (...all: readonly Recorded[]): Recorded => {
  const names = new Set(all.flatMap((one) => [...one.keys()]));
  return new Map([...names].map((name) => [name, new Map(all.flatMap((one) => [...(one.get(name) ?? [])]))]));
};
