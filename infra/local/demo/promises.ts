/** What the demo promises, each judged by what was seen, told and proved. */
import type { Proof } from "./proof.ts";
import { PR, PULL_REQUESTS } from "./sample.ts";
import type { Move } from "./screen.ts";
import type { Remembered } from "./story.ts";
import type { Seen } from "./watch.ts";

export type Evidence = {
  readonly seen: Seen;
  readonly moves: readonly Move[];
  readonly remembered: Remembered;
  readonly proof: Proof;
  readonly metrics: string;
};

export type Promised = { readonly what: string; readonly kept: boolean };

export function promises(evidence: Evidence): readonly Promised[] {
  const { proof, metrics } = evidence;
  const { ahead, behind } = PR.together;
  return [
    ...outcomes(evidence),
    { what: "main has one commit for each merged pull request and no other", kept: isOneEach(proof) },
    {
      what: `every point that main has been at passes its checks (${proof.points.length} points)`,
      kept: allPass(proof),
    },
    {
      what: `#${ahead} and #${behind} merge in text and pass alone, and fail together`,
      kept: proof.mergesInText && proof.alone.every(Boolean) && !proof.together,
    },
    {
      what: `the urgent #${PR.urgent} landed before all but those that were landing when it came`,
      kept: isUrgentFirst(evidence),
    },
    { what: "nothing landed while the queue was paused", kept: isStillWhilePaused(evidence) },
    {
      what: `#${PR.late}, submitted meanwhile, was not admitted before the pause ended`,
      kept: isAdmittedAfterPause(evidence),
    },
    { what: `#${PR.conflicting.behind} was found in conflict, and landed after its rebase`, kept: isRebased(evidence) },
    { what: "the metrics count what was merged, failed and cancelled", kept: isCounted(metrics) },
  ];
}

const named = (numbers: readonly number[]): string => numbers.map((number) => `#${number}`).join(", ");

function outcomes({ seen }: Evidence): readonly Promised[] {
  return (["MERGED", "FAILED", "CANCELLED"] as const).map((state) => {
    const numbers = PULL_REQUESTS.filter((one) => one.ends === state).map((one) => one.number);
    return { what: `${state}: ${named(numbers)}`, kept: numbers.every((number) => seen.get(number)?.state === state) };
  });
}

const merged = PULL_REQUESTS.filter((one) => one.ends === "MERGED");

function isOneEach({ points }: Proof): boolean {
  const subjects = points.slice(1).map((point) => point.subject);
  const expected = merged.map(({ title, number }) => `${title} (#${number})`);
  return JSON.stringify(subjects.toSorted()) === JSON.stringify(expected.toSorted());
}

const allPass = ({ points }: Proof): boolean => points.length > 1 && points.every((point) => point.passes);

/** One landing at a time is on its way, and is finished; nothing else may come between. */
function isUrgentFirst({ moves }: Evidence): boolean {
  const timeOf = (to: string): number => moves.find((move) => move.number === PR.urgent && move.to === to)?.at ?? 0;
  const [from, until] = [timeOf("PENDING"), timeOf("MERGED")];
  const between = moves.filter(({ to, at }) => to === "MERGED" && at > from && at < until);
  const after = moves.filter(({ to, at }) => to === "MERGED" && at > until);
  return from > 0 && between.length <= 1 && after.length > 0;
}

function isStillWhilePaused({ moves, remembered: { pause } }: Evidence): boolean {
  const [before, after] = pause.tipAt;
  const landed = moves.some(({ to, at }) => to === "MERGED" && at > pause.from && at < pause.to);
  return before === after && !landed;
}

function isAdmittedAfterPause({ moves, remembered: { pause } }: Evidence): boolean {
  const admitted = moves.find(({ number, to }) => number === PR.late && to === "PENDING");
  return admitted !== undefined && admitted.at >= pause.to;
}

function isRebased({ moves, remembered }: Evidence): boolean {
  const { behind } = PR.conflicting;
  const states = moves.filter(({ number }) => number === behind).map(({ to }) => to);
  return remembered.conflict.includes("tax.sh") && states.includes("NOT_READY") && states.at(-1) === "MERGED";
}

function isCounted(metrics: string): boolean {
  const counted = (conclusion: string): number =>
    metrics
      .split("\n")
      .filter((line) => line.startsWith("mq_pr_conclusions_1h_total{") && line.includes(`conclusion="${conclusion}"`))
      .reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
  return (["MERGED", "FAILED", "CANCELLED"] as const).every(
    (state) => counted(state.toLowerCase()) === PULL_REQUESTS.filter((one) => one.ends === state).length,
  );
}
