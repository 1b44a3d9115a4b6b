/** Every story on GitHub's twin at once, calm or with a GitHub that misbehaves until all have come to their end. */
import { onGitHub } from "../../../support/github-service.ts";
import { playOnGitHub, STORIES } from "./play.ts";

export type Wished = {
  readonly faults: boolean;
  readonly seed: number;
  /** Those whose name contains it. */
  readonly only?: string;
  /** So many at a time. */
  readonly atOnce?: number;
  readonly say?: (line: string) => void;
};

/** What ends otherwise, and rightly, where something is heard of too late. */
const DEPENDS_ON_HEARING: ReadonlySet<string> = new Set([
  "one that fails alone is cleared by the one behind it",
  "the target branch is deleted and comes back",
  // Whoever is heard of first lands first, and the other one conflicts.
  "two that conflict in text: the second one waits for its author",
]);

/** Of the requests and of the webhooks, so many meet a fault. */
const HIT = 0.03;

export type Told = { readonly name: string; readonly problems: readonly string[]; readonly seconds: number };

export async function playAll({
  faults,
  seed,
  only = "",
  atOnce = 8,
  say = () => {},
}: Wished): Promise<readonly Told[]> {
  const on = await onGitHub({ ci: null, limits: "none" });
  const isSure = (name: string): boolean => !(faults && DEPENDS_ON_HEARING.has(name));
  const waiting = [...STORIES.entries()].filter(([, { name }]) => name.includes(only) && isSure(name));
  const told: Told[] = [];
  try {
    if (faults) disturb(on.twin.faults, seed);
    const worker = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const [at, scenario] = next;
        const since = performance.now();
        const problems = await playOnGitHub(on, scenario, at);
        const one = { name: scenario.name, problems, seconds: (performance.now() - since) / 1_000 };
        told.push(one);
        say(
          `${problems.length === 0 ? "kept  " : "BROKEN"}  ${one.name} (${one.seconds.toFixed(1)} s) ${problems.join("; ")}`,
        );
      }
    };
    await Promise.all(Array.from({ length: atOnce }, worker));
  } finally {
    on.twin.faults.clear();
    await on.stop();
  }
  return told;
}

/** Requests that fail, that are done and never answered, that come too quickly; slow ones; webhooks lost, doubled, late. */
function disturb(faults: Awaited<ReturnType<typeof onGitHub>>["twin"]["faults"], seed: number): void {
  faults.byChance(seed, HIT);
  faults.delay(30);
  faults.delayWebhooks(20);
  faults.rateLimit({ kind: "SECONDARY", seconds: 1, requests: 2, match: /check-runs$/u });
  faults.rateLimit({ kind: "PRIMARY", seconds: 2, requests: 1, match: /^POST .*\/merges$/u });
}
