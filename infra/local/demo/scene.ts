/** What a scene of the demo is: a sample repository, what is played on it, and how that is judged. */
import type { Client } from "./client.ts";
import type { Point } from "./proof.ts";
import type { DemoRepository } from "./repository.ts";
import type { Person } from "./run.ts";
import type { Move, Screen } from "./screen.ts";
import type { Seen, Watch } from "./watch.ts";

export type Files = Readonly<Record<string, string>>;

export type SamplePullRequest = {
  readonly number: number;
  readonly title: string;
  readonly author: Person;
  readonly files: Files;
  /** What the demo promises. */
  readonly ends: "MERGED" | "FAILED" | "CANCELLED";
};

export type Sample = {
  /** The repository is `demo/<name>`. */
  readonly name: string;
  /** The first commit: its subject and its files. */
  readonly subject: string;
  readonly base: Files;
  /** Scripts that have to pass at every point of the target branch. */
  readonly checks: readonly string[];
  readonly pullRequests: readonly SamplePullRequest[];
};

export type Stage = {
  readonly sample: Sample;
  readonly client: Client;
  readonly repository: DemoRepository;
  readonly screen: Screen;
  readonly watch: Watch;
  /** Those of which an explanation was shown while they had not ended. */
  readonly quoted: Set<number>;
};

/** What was seen, told and proved when it was over. */
export type Evidence = {
  readonly seen: Seen;
  readonly moves: readonly Move[];
  /** Every commit that the target branch got, proved in `clone` with plain git. */
  readonly points: readonly Point[];
  readonly clone: string;
  readonly metrics: string;
};

export type Promised = { readonly what: string; readonly kept: boolean };
export type Judge = (evidence: Evidence) => Promise<readonly Promised[]> | readonly Promised[];

export type Scene = {
  readonly sample: Sample;
  readonly title: string;
  /** It only acts and remembers; what it answers judges. */
  readonly play: (stage: Stage) => Promise<Judge>;
};

export const ADA: Person = { name: "Ada", email: "ada@example.com" };
export const BEN: Person = { name: "Ben", email: "ben@example.com" };
export const CAM: Person = { name: "Cam", email: "cam@example.com" };

export const named = (numbers: readonly number[]): string => numbers.map((number) => `#${number}`).join(", ");

/** The code host has been asked about all of them: who comes in first is then the same on a fast machine and on a busy one. */
export const areMergeable =
  (...numbers: readonly number[]) =>
  (seen: Seen): boolean =>
    numbers.every((number) => seen.get(number)?.readiness.gitHubMergeability === "MERGEABLE");

export const inState =
  (number: number, ...states: readonly string[]) =>
  (seen: Seen): boolean =>
    states.includes(seen.get(number)?.state ?? "");

const ENDED: ReadonlySet<string> = new Set(["MERGED", "FAILED", "CANCELLED"]);
export const hasEnded = (state: string): boolean => ENDED.has(state);

export const untilAllEnded = ({ sample, watch }: Stage): Promise<void> =>
  watch.until("every pull request comes to an end", (seen) =>
    sample.pullRequests.every(({ number }) => hasEnded(seen.get(number)?.state ?? "")),
  );

/** Asks why each one is where it is. */
export async function explainNow(stage: Stage): Promise<void> {
  const seen = await stage.watch.look();
  stage.screen.say("Why is each where it is? (POST /explainPullRequest)");
  await explainLive(stage, ...seen.keys());
}

/** Shows what is answered about those of them that have not ended. */
export async function explainLive({ client, screen, quoted }: Stage, ...numbers: readonly number[]): Promise<void> {
  const told = await Promise.all(numbers.map((number) => client.explain(number)));
  for (const { prNumber, summary } of told.filter(({ state }) => !hasEnded(state))) {
    screen.quote(summary);
    quoted.add(prNumber);
  }
}
