/** The fourth scene: a test that fails by chance, which a successor that contains the change and passes makes good. */
import { counted } from "./promises.ts";
import { runsOf, showRuns, type TestRun } from "./runs.ts";
import {
  ADA,
  areMergeable,
  BEN,
  type Evidence,
  explainNow,
  inState,
  type Judge,
  type Promised,
  type Sample,
  type Scene,
  type Stage,
  untilAllEnded,
} from "./scene.ts";

const FLAKED = 41;
const SUCCESSOR = 42;

/**
 * A flaky test whose dice are loaded, so that everybody sees the same: it fails where #41 is tested alone, whatever the
 * content, and nowhere else. A run that contains #42 takes longer, so that it is still going on when that is known.
 */
const CONFIG = `checks:
  unit: sh checks/dice.sh && sleep $(cat pause.txt || echo 0) && sh checks/unit.sh
`;
const DICE = `if [ "$MAINLINE_PULL_REQUESTS" = ${FLAKED} ]; then
  echo "the oven's thermometer did not answer (this has nothing to do with the change)"
  exit 1
fi
`;

const OVEN: Sample = {
  name: "oven",
  subject: "An oven's settings",
  base: {
    ".mainline.yaml": CONFIG,
    "checks/dice.sh": DICE,
    "checks/unit.sh": '[ "$(cat degrees.txt)" -gt 100 ] && [ "$(cat minutes.txt)" -gt 10 ]\n',
    "degrees.txt": "220\n",
    "minutes.txt": "40\n",
  },
  checks: ["checks/unit.sh"],
  pullRequests: [
    { number: FLAKED, title: "Bake hotter", author: ADA, files: { "degrees.txt": "240\n" }, ends: "MERGED" },
    {
      number: SUCCESSOR,
      title: "Bake shorter",
      author: BEN,
      files: { "minutes.txt": "35\n", "pause.txt": "3\n" },
      ends: "MERGED",
    },
  ],
};

export const OPTIMISM: Scene = {
  sample: OVEN,
  title: "Optimism: a test that fails by chance, and a successor that makes it good",
  play,
};

type Found = { readonly runs: readonly TestRun[]; readonly movements: readonly string[]; readonly ending: string };

async function play(stage: Stage): Promise<Judge> {
  const { client, screen, watch, repository } = stage;
  await client.createQueue({
    state: "paused",
    canOptimisticallyMerge: true,
    pendingFailureDepth: 1,
    retriesBeforeFailure: 0,
  });
  screen.say("The queue is made: optimistic, a failure waits for 1 successor, and failed checks are not repeated.");
  await client.submit(FLAKED);
  await client.submit(SUCCESSOR);
  await watch.until("both can be merged", areMergeable(FLAKED, SUCCESSOR));
  screen.say(`#${FLAKED} and #${SUCCESSOR} are tested. The test of #${FLAKED} alone fails, by chance:`);
  screen.say(`whether #${FLAKED} is good, the test of #${SUCCESSOR}, which contains it, will show.`);
  await client.updateQueue({ state: "running" });
  await watch.until(`#${FLAKED} has failed`, inState(FLAKED, "PENDING_FAILURE", "TESTS_PASSED", "MERGED", "FAILED"));
  await explainNow(stage);
  await untilAllEnded(stage);
  const runs = await runsOf(stage);
  showRuns(stage, runs);
  const { summary } = await client.explain(FLAKED);
  screen.quote(summary);
  const found: Found = { runs, movements: await repository.movements(), ending: summary };
  return (evidence) => judge(evidence, found);
}

function judge({ moves, metrics }: Evidence, { runs, movements, ending }: Found): readonly Promised[] {
  const alone = runs.find((run) => String(run.pullRequests) === String(FLAKED));
  const both = runs.find((run) => String(run.pullRequests) === String(SUCCESSOR));
  const unproven = counted(metrics, "mainline_pull_requests_merged_unproven_total", 'how="by_successor"');
  return [
    {
      what: `#${FLAKED} failed alone, and the run of #${SUCCESSOR}, which contains it, passed`,
      kept:
        alone?.status === "FAILED" &&
        both?.status === "SUCCEEDED" &&
        both.content.length === 2 &&
        moves.some(({ number, to }) => number === FLAKED && to === "PENDING_FAILURE"),
    },
    {
      what: "both landed in one movement of main, to exactly the commit that was tested",
      kept: movements.length === 1 && movements[0] === both?.sha,
    },
    {
      what: `the ending of #${FLAKED} says that another's test proved it, and the metrics count it`,
      kept: ending.includes(`#${SUCCESSOR}`) && unproven === 1,
    },
  ];
}
