/** The third scene: four are tested as one, which fails; it is taken apart until it is known who is to blame. */
import { runsOf, showRuns, type TestRun } from "./runs.ts";
import {
  ADA,
  BEN,
  CAM,
  type Evidence,
  explainNow,
  inState,
  type Judge,
  named,
  type Promised,
  type Sample,
  type Scene,
  type Stage,
  untilAllEnded,
} from "./scene.ts";

const CULPRIT = 33;
const grain = (name: string, grams: string) => ({ [`grain/${name}.txt`]: `${grams}\n` });

const MILL: Sample = {
  name: "mill",
  subject: "A mill's grain",
  base: {
    ".mainline.yaml": "checks:\n  unit: sleep 0.5 && sh checks/unit.sh\n",
    "checks/unit.sh":
      'for file in grain/*.txt; do\n  [ "$(cat $file)" -gt 0 ] || { echo "$file: no weight"; exit 1; }\ndone\n',
    ...grain("wheat", "1000"),
  },
  checks: ["checks/unit.sh"],
  pullRequests: [
    { number: 31, title: "Grind rye", author: ADA, files: grain("rye", "800"), ends: "MERGED" },
    { number: 32, title: "Grind oats", author: BEN, files: grain("oats", "500"), ends: "MERGED" },
    { number: CULPRIT, title: "Grind stones", author: CAM, files: grain("stones", "none"), ends: "FAILED" },
    { number: 34, title: "Grind spelt", author: ADA, files: grain("spelt", "700"), ends: "MERGED" },
  ],
};
const NUMBERS = MILL.pullRequests.map(({ number }) => number);
const GOOD = NUMBERS.filter((number) => number !== CULPRIT);

export const BATCH: Scene = {
  sample: MILL,
  title: "A batch: four are tested as one, it fails, and is bisected",
  play,
};

async function play(stage: Stage): Promise<Judge> {
  const { client, screen, watch } = stage;
  await client.createQueue({
    batch: true,
    batchingMinSize: NUMBERS.length,
    batchingMaxWaitTimeMinutes: 5,
    bisectionConcurrency: 2,
  });
  screen.say(`The queue is made: batches of ${NUMBERS.length}, or of fewer after 5 minutes; 2 slots for bisection.`);
  const [last = 0] = NUMBERS.slice(-1);
  screen.say("Three are submitted, and wait for a fourth.");
  for (const number of NUMBERS.slice(0, -1)) await client.submit(number);
  await watch.until("the first wait for one more", (seen) =>
    NUMBERS.slice(0, -1).every((number) => inState(number, "PENDING")(seen)),
  );
  await explainNow(stage);
  screen.say(`#${last} is submitted: the batch is complete, and is tested at once.`);
  await client.submit(last);
  await watch.until("the batch is taken apart", () => watch.moves().some(({ reason }) => reason === "BISECTED"));
  screen.say("It fails. Halves are tested: what passes lands as it was tested, what fails is halved again.");
  await watch.until("a part is tested", (seen) => NUMBERS.some((number) => inState(number, "TESTING")(seen)));
  await explainNow(stage);
  await untilAllEnded(stage);
  const runs = await runsOf(stage);
  showRuns(stage, runs);
  const movements = await stage.repository.movements();
  return (evidence) => judge(evidence, runs, movements);
}

function judge({ moves }: Evidence, runs: readonly TestRun[], movements: readonly string[]): readonly Promised[] {
  const batch = runs.find((run) => !run.isBisection && run.pullRequests.length === NUMBERS.length);
  const parts = runs.filter((run) => run.isBisection);
  return [
    { what: `${named(NUMBERS)} were tested as one, which failed`, kept: batch?.status === "FAILED" },
    {
      what: `it was bisected: runs with isBisection, one of which found #${CULPRIT}`,
      kept: parts.some(({ status, pullRequests }) => status === "FAILED" && String(pullRequests) === String(CULPRIT)),
    },
    {
      what: `nobody but #${CULPRIT} was ejected, and nobody had to submit again`,
      kept: GOOD.every((number) => moves.filter((move) => move.number === number && move.from === null).length === 1),
    },
    {
      what: "what passed together landed together: fewer movements of main than pull requests",
      kept: movements.length < GOOD.length,
    },
  ];
}
