/** What the demo promises of every scene, and of the first one; each judged by what was seen, told and proved. */
import { headOf, passesAt, passTogether, type Point } from "./proof.ts";
import { BAKERY, PR } from "./sample.ts";
import { type Evidence, named, type Promised, type Sample, type Stage } from "./scene.ts";
import type { Remembered } from "./story.ts";

const ENDS = ["MERGED", "FAILED", "CANCELLED"] as const;
const endingAs = ({ pullRequests }: Sample, state: (typeof ENDS)[number]): readonly number[] =>
  pullRequests.filter((one) => one.ends === state).map((one) => one.number);

/** Of every scene. */
export function judgeScene({ sample, watch }: Stage, { seen, points, metrics }: Evidence): readonly Promised[] {
  const told = watch.told();
  return [
    ...ENDS.map((state) => ({ state, numbers: endingAs(sample, state) }))
      .filter(({ numbers }) => numbers.length > 0)
      .map(({ state, numbers }) => ({
        what: `${state}: ${named(numbers)}`,
        kept: numbers.every((number) => seen.get(number)?.state === state),
      })),
    { what: "main has one commit for each merged pull request and no other", kept: isOneEach(sample, points) },
    {
      what: `every point that main has been at passes its checks (${points.length} points)`,
      kept: points.length > 1 && points.every((point) => point.passes),
    },
    {
      what: "each pull request was explained while it was live",
      kept: sample.pullRequests.every(
        ({ number }) => told.get(number)?.every(({ summary }) => summary !== "") === true,
      ),
    },
    { what: "the metrics count what was merged, failed and cancelled", kept: isCounted(sample, metrics) },
  ];
}

function isOneEach(sample: Sample, points: readonly Point[]): boolean {
  const subjects = points.slice(1).map((point) => point.subject);
  const merged = sample.pullRequests.filter((one) => one.ends === "MERGED");
  const expected = merged.map(({ title, number }) => `${title} (#${number})`);
  return JSON.stringify(subjects.toSorted()) === JSON.stringify(expected.toSorted());
}

const isCounted = (sample: Sample, metrics: string): boolean =>
  ENDS.every(
    (state) =>
      counted(metrics, "mq_pr_conclusions_1h_total", `conclusion="${state.toLowerCase()}"`) ===
      endingAs(sample, state).length,
  );

/** The sum of a series over the lines that have this label. */
export const counted = (metrics: string, series: string, label: string): number =>
  metrics
    .split("\n")
    .filter((line) => line.startsWith(`${series}{`) && line.includes(label))
    .reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);

export async function judgeBakery(evidence: Evidence, remembered: Remembered): Promise<readonly Promised[]> {
  const { ahead, behind } = PR.together;
  return [
    {
      what: `#${ahead} and #${behind} merge in text and pass alone, and fail together`,
      kept: await areBrokenTogether(evidence.clone, ahead, behind),
    },
    {
      what: `the urgent #${PR.urgent} landed before all but those that were landing when it came`,
      kept: isUrgentFirst(evidence),
    },
    { what: "nothing landed while the queue was paused", kept: isStillWhilePaused(evidence, remembered) },
    {
      what: `#${PR.late}, submitted meanwhile, was not admitted before the pause ended`,
      kept: isAdmittedAfterPause(evidence, remembered),
    },
    {
      what: `#${PR.conflicting.behind} was found in conflict, and landed after its rebase`,
      kept: isRebased(evidence, remembered),
    },
  ];
}

async function areBrokenTogether(clone: string, ahead: number, behind: number): Promise<boolean> {
  const { checks } = BAKERY;
  const first = await passesAt(clone, headOf(ahead), checks);
  const second = await passesAt(clone, headOf(behind), checks);
  const { mergesInText, passes } = await passTogether(clone, ahead, behind, checks);
  return first && second && mergesInText && !passes;
}

/** One landing at a time is on its way, and is finished; nothing else may come between. */
function isUrgentFirst({ moves }: Evidence): boolean {
  const timeOf = (to: string): number => moves.find((move) => move.number === PR.urgent && move.to === to)?.at ?? 0;
  const [from, until] = [timeOf("PENDING"), timeOf("MERGED")];
  const between = moves.filter(({ to, at }) => to === "MERGED" && at > from && at < until);
  const after = moves.filter(({ to, at }) => to === "MERGED" && at > until);
  return from > 0 && between.length <= 1 && after.length > 0;
}

function isStillWhilePaused({ moves }: Evidence, { pause }: Remembered): boolean {
  const [before, after] = pause.tipAt;
  const landed = moves.some(({ to, at }) => to === "MERGED" && at > pause.from && at < pause.to);
  return before === after && !landed;
}

function isAdmittedAfterPause({ moves }: Evidence, { pause }: Remembered): boolean {
  const admitted = moves.find(({ number, to }) => number === PR.late && to === "PENDING");
  return admitted !== undefined && admitted.at >= pause.to;
}

function isRebased({ moves }: Evidence, { conflict }: Remembered): boolean {
  const { behind } = PR.conflicting;
  const states = moves.filter(({ number }) => number === behind).map(({ to }) => to);
  return conflict.includes("tax.sh") && states.includes("NOT_READY") && states.at(-1) === "MERGED";
}
