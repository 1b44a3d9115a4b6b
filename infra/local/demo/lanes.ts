/** The second scene: a parallel queue, in which only those wait for each other that change the same targets. */
import { numbersIn, runsOf, showRuns, type TestRun } from "./runs.ts";
import {
  ADA,
  BEN,
  CAM,
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

const WEB = 21;
const API = 22;
const SENT = 23;

/** A change may bring a pause, so that there is something to watch; the proof runs the script without it. */
const CONFIG = `checks:
  unit: sleep $(cat */pause.txt || echo 0.5) && sh checks/unit.sh
targets:
  web: ["web/**"]
  api: ["api/**"]
`;

const MARKET: Sample = {
  name: "market",
  subject: "A market's shop",
  base: {
    ".mainline.yaml": CONFIG,
    "checks/unit.sh": "for test in */test.sh; do\n  sh $test || exit 1\ndone\n",
    "web/window.txt": "bread\n",
    "web/test.sh": "grep -q bread web/window.txt\n",
    "api/prices.txt": "bread 250\n",
    "api/test.sh": "grep -q bread api/prices.txt\n",
  },
  checks: ["checks/unit.sh"],
  pullRequests: [
    {
      number: WEB,
      title: "Redraw the window",
      author: ADA,
      files: { "web/window.txt": "bread, cake\n", "web/pause.txt": "5\n" },
      ends: "MERGED",
    },
    {
      number: API,
      title: "Price the cake",
      author: BEN,
      files: { "api/prices.txt": "bread 250\ncake 1800\n" },
      ends: "MERGED",
    },
    { number: SENT, title: "Frame the window", author: CAM, files: { "frame.txt": "oak\n" }, ends: "MERGED" },
  ],
};

export const LANES: Scene = {
  sample: MARKET,
  title: "Lanes: only those wait for each other that change the same targets",
  play,
};

async function play(stage: Stage): Promise<Judge> {
  const { client, screen, watch } = stage;
  await client.createQueue({ mode: "parallel", concurrency: 4 });
  screen.say("The queue is made: parallel mode. .mainline.yaml says which paths are which target.");
  screen.say(`#${WEB} changes web/ and has slow tests; #${API} changes api/. Nobody has to name their targets.`);
  await client.submit(WEB);
  await client.submit(API);
  await watch.until(
    `#${WEB} and #${API} are tested`,
    (seen) => inState(WEB, "TESTING")(seen) && inState(API, "TESTING", "TESTS_PASSED", "MERGED")(seen),
  );
  screen.say(`#${SENT} changes a file that belongs to no target, which would mean all. Its build knows better,`);
  screen.say(`and sends ["web"] (POST /setImpactedTargets): it is tested on #${WEB}, and not on #${API}.`);
  await client.setTargets(SENT, ["web"]);
  await client.submit(SENT);
  await watch.until(`#${SENT} is tested`, inState(SENT, "TESTING", "TESTS_PASSED", "MERGED"));
  await explainNow(stage);
  await untilAllEnded(stage);
  const runs = await runsOf(stage);
  showRuns(stage, runs);
  return (evidence) => judge(evidence, runs);
}

function judge({ moves }: Evidence, runs: readonly TestRun[]): readonly Promised[] {
  const landed = moves.filter(({ to }) => to === "MERGED").map(({ number }) => number);
  const goodRunOf = (number: number): TestRun | undefined =>
    runs.find((run) => run.pullRequests.includes(number) && run.status === "SUCCEEDED");
  const has = (number: number, targets: readonly string[]): boolean =>
    JSON.stringify(goodRunOf(number)?.targets) === JSON.stringify(targets);
  const isTestedWith = (number: number, other: number): boolean =>
    numbersIn(goodRunOf(number)?.content ?? []).includes(other);
  return [
    {
      what: `the targets: #${WEB} web and #${API} api by their paths, #${SENT} web as was sent`,
      kept: has(WEB, ["web"]) && has(API, ["api"]) && has(SENT, ["web"]),
    },
    {
      what: `#${WEB} and #${API} were tested without each other`,
      kept: !isTestedWith(WEB, API) && !isTestedWith(API, WEB),
    },
    {
      what: `#${API} did not wait for the slow #${WEB}, and landed before it`,
      kept: landed.indexOf(API) < landed.indexOf(WEB),
    },
    {
      what: `#${SENT} was tested on #${WEB}, and landed after it`,
      kept: isTestedWith(SENT, WEB) && landed.indexOf(WEB) < landed.indexOf(SENT),
    },
  ];
}
