/** The fifth scene: a flaky test that costs nobody a place in the queue, a broken one, and what is told of both. */
import type { FailingTest, TestDetails, UnhealthyTest, UploadAnswer } from "./client.ts";
import { counted } from "./promises.ts";
import { BRANCH } from "./repository.ts";
import {
  ADA,
  BEN,
  CAM,
  type Evidence,
  type Judge,
  named,
  type Promised,
  type Sample,
  type SamplePullRequest,
  type Scene,
  type Stage,
  untilAllEnded,
} from "./scene.ts";

const FLAKY = "the scale is steady";
const BROKEN = "the freezer door closes";

const LABELS = "everything has a label";
const ICE = "the ice is cold";

/** By where a test is its owner is known. */
const FILES: Readonly<Record<string, string>> = {
  [LABELS]: "labels/all.test",
  [FLAKY]: "scale/steady.test",
  [BROKEN]: "freezer/door.test",
  [ICE]: "freezer/ice.test",
};
/** What it says when it fails. */
const SAYS: Readonly<Record<string, string>> = {
  [FLAKY]: "the scale did not settle in 2 s",
  [BROKEN]: "the door stays open by 3 cm",
};
const OWNERS: Readonly<Record<string, string>> = { [FLAKY]: "@demo/weights", [BROKEN]: "@demo/cold" };
const CODEOWNERS = "* @demo/kitchen\n/scale/ @demo/weights\n/freezer/ @demo/cold\n";

const FLAKED = [51, 52, 53];
const LAST = 54;

/**
 * Again the dice are loaded: one test fails at the first attempt of each run for some pull requests, whatever their
 * content, and passes when the queue repeats it.
 */
const UNIT = `failed=0
testcase() { # file, name, what is wrong with it
  echo "<testcase file='$1' classname='larder' name='$2'>\${3:+<failure message='$3'/>}</testcase>"
  [ -z "$3" ] || failed=1
}
wrong=
for label in */*.label; do
  [ -s $label ] || wrong="$label is empty"
done
scale=
case "$MAINLINE_ATTEMPT $MAINLINE_PULL_REQUESTS" in
  ${FLAKED.map((number) => `"1 ${number}"`).join(" | ")}) scale="${SAYS[FLAKY]}" ;;
esac
{
  echo "<testsuites><testsuite name='larder'>"
  testcase ${FILES[LABELS]} "${LABELS}" "$wrong"
  testcase ${FILES[FLAKY]} "${FLAKY}" "$scale"
  echo "</testsuite></testsuites>"
} > junit.xml
exit $failed
`;

/** Each shelf is a lane of its own: nobody waits for the repeats of others. */
const SHELVES = ["top", "middle", "bottom", "door"] as const;
const CONFIG = `checks:
  unit: sh checks/unit.sh
reports:
  unit: junit.xml
targets:
${SHELVES.map((shelf) => `  ${shelf}: ["${shelf}/**"]\n`).join("")}`;

type Author = SamplePullRequest["author"];
const stock = (number: number, author: Author, shelf: (typeof SHELVES)[number], what: string): SamplePullRequest => ({
  number,
  title: `Stock ${what}`,
  author,
  files: { [`${shelf}/${what}.label`]: `${what}\n` },
  ends: "MERGED",
});

const LARDER: Sample = {
  name: "larder",
  subject: "A larder's shelves",
  base: { ".mainline.yaml": CONFIG, "checks/unit.sh": UNIT, "top/salt.label": "salt\n" },
  checks: ["checks/unit.sh"],
  pullRequests: [
    stock(51, ADA, "top", "flour"),
    stock(52, BEN, "middle", "honey"),
    stock(53, CAM, "bottom", "lentils"),
    stock(LAST, ADA, "door", "jam"),
  ],
};

export const TEST_HEALTH: Scene = {
  sample: LARDER,
  title: "Test health: a flaky test costs nobody a place, and a gate tells it from a broken one",
  play,
};

/** A JUnit file in which these tests ran and some of them failed, as a CI has it. */
const junit = (ran: readonly string[], failed: readonly string[]): string =>
  [
    "<testsuites><testsuite name='larder'>",
    ...ran.map((name) => {
      const failure = failed.includes(name) ? `<failure message='${SAYS[name]}'/>` : "";
      return `<testcase file='${FILES[name]}' classname='larder' name='${name}'>${failure}</testcase>`;
    }),
    "</testsuite></testsuites>",
  ].join("\n");

type Gate = Readonly<Record<"unset" | "onlyFlaky" | "brokenToo", UploadAnswer>>;
type Found = {
  /** Those flaky or broken at the end. */
  readonly unhealthy: readonly UnhealthyTest[];
  readonly failing: readonly FailingTest[];
  readonly flaky: TestDetails;
  readonly broken: TestDetails;
  readonly gate: Gate;
};

async function play(stage: Stage): Promise<Judge> {
  const { client, screen } = stage;
  await client.createQueue({ mode: "parallel", concurrency: LARDER.pullRequests.length });
  await client.updateHealthSettings({ codeowners: CODEOWNERS });
  screen.say("The queue is made: failed checks are repeated once, and .mainline.yaml says where the JUnit file is.");
  screen.say(`In the tests of ${named(FLAKED)}, "${FLAKY}" fails by chance, and passes when it is repeated.`);
  for (const { number } of LARDER.pullRequests) await client.submit(number);
  await untilAllEnded(stage);
  await sendNightly(stage);
  await untilKnown(stage);
  const failing = await showLists(stage);
  const [flaky, broken] = [await detailsOf(stage, failing, FLAKY), await detailsOf(stage, failing, BROKEN)];
  screen.say(`What says that "${FLAKY}" is ${flaky.test.status.value} (POST /flaky-tests/get-test-details):`);
  for (const { what } of flaky.evidence) screen.quote(what);
  const gate = await askGate(stage);
  const { tests: unhealthy } = await client.unhealthyTests();
  return (evidence) => judge(evidence, { unhealthy, failing, flaky, broken, gate });
}

async function sendNightly({ client, screen, repository }: Stage): Promise<void> {
  const commits = await repository.commits();
  screen.say(
    `All landed. A nightly build sends its results of the ${commits.length} commits of ${BRANCH}, as any CI may`,
  );
  screen.say(`(POST /flaky-tests/upload-test-results): in all of them "${BROKEN}" fails.`);
  for (const sha of commits)
    await client.uploadResults(junit([BROKEN, ICE], [BROKEN]), { sha, branch: BRANCH, job: "nightly" });
}

const untilKnown = ({ client, watch }: Stage): Promise<void> =>
  watch.until(`"${FLAKY}" and "${BROKEN}" are judged`, async () => {
    const { tests } = await client.unhealthyTests();
    return [FLAKY, BROKEN].every((wanted) => tests.some(({ name }) => name === wanted));
  });

const HOUR_MS = 3_600_000;
const percent = (rate: number | undefined): string => (rate === undefined ? "" : `${Math.round(rate * 100)} %`);

async function showLists({ client, screen }: Stage): Promise<readonly FailingTest[]> {
  const { tests: unhealthy } = await client.unhealthyTests();
  screen.say("What is unhealthy, how often it fails, and whose it is (POST /flaky-tests/list-unhealthy-tests):");
  for (const { name, status, failure_rate_last_7d: rate, codeowners } of unhealthy) {
    screen.quote(`${name.padEnd(25)}${status.value.padEnd(8)}${percent(rate).padStart(5)}  ${codeowners.join(" ")}`);
    screen.quote(`  ${status.reason}`);
  }
  const now = Date.now();
  const { tests: failing } = await client.failingTests(new Date(now - HOUR_MS), new Date(now + HOUR_MS));
  screen.say("What failed, in how many pull requests, and with what (POST /flaky-tests/list-failing-tests):");
  for (const { name, pull_requests_impacted_last_7d: impacted, most_common_failures: common } of failing)
    for (const { summary, occurrence_count: times } of common.slice(0, 1))
      screen.quote(`${name.padEnd(25)}${`${impacted} PRs`.padEnd(8)}${`${times} x`.padStart(5)}  ${summary}`);
  return failing;
}

async function detailsOf({ client }: Stage, tests: readonly FailingTest[], wanted: string): Promise<TestDetails> {
  const id = tests.find(({ name }) => name === wanted)?.id;
  if (id === undefined) throw new Error(`"${wanted}" is not among the tests that failed`);
  return client.testDetails(id);
}

/** A CI that tests a pull request's own branch, three times, and goes by the verdict. */
async function askGate({ client, screen, repository }: Stage): Promise<Gate> {
  const facts = { sha: await repository.head(LAST), branch: "jam", pr: String(LAST), job: "ci" };
  const ran = Object.keys(FILES);
  const ask = async (attempt: number, failed: readonly string[], when: string): Promise<UploadAnswer> => {
    const answer = await client.uploadResults(junit(ran, failed), { ...facts, attempt: String(attempt) });
    screen.quote(`${when.padEnd(48)}  verdict: ${answer.verdict}`);
    return answer;
  };
  screen.say(`The CI of #${LAST}'s own branch sends its results, too, and goes by the verdict that is answered:`);
  const unset = await ask(1, [FLAKY], "only the flaky one fails");
  await client.updateHealthSettings({ quarantinesFlaky: true });
  const onlyFlaky = await ask(2, [FLAKY], "only the flaky one fails, with quarantinesFlaky");
  const brokenToo = await ask(3, [FLAKY, BROKEN], "the broken one fails, too");
  return { unset, onlyFlaky, brokenToo };
}

function judge({ seen, moves, metrics }: Evidence, found: Found): readonly Promised[] {
  const { unhealthy, failing, flaky, broken, gate } = found;
  const repeats = counted(metrics, "mainline_check_repeats_total", "");
  const commits = new Set(flaky.evidence.filter(({ rule }) => rule === "same-commit").map(({ sha }) => sha));
  const statuses = new Map(unhealthy.map(({ name, status }) => [name, status.value]));
  const quarantined = [gate.unset, gate.onlyFlaky, gate.brokenToo].map((answer) => String(answer.quarantined));
  return [
    {
      what: `the flake ejected nobody: ${named(FLAKED)} failed, were repeated, landed, and had to be submitted once`,
      kept:
        repeats >= FLAKED.length &&
        FLAKED.every(
          (number) =>
            seen.get(number)?.state === "MERGED" &&
            moves.filter((move) => move.number === number && move.from === null).length === 1,
        ),
    },
    {
      what: `"${FLAKY}" is FLAKY, by at least 2 commits on which it failed and passed (${commits.size})`,
      kept: statuses.get(FLAKY) === "FLAKY" && commits.size >= 2,
    },
    {
      what: `"${BROKEN}" is BROKEN, and has never been FLAKY`,
      kept: statuses.get(BROKEN) === "BROKEN" && broken.transitions.every(({ status }) => status === "BROKEN"),
    },
    {
      what: "no other test is listed, and the owners are those of CODEOWNERS",
      kept:
        failing.length === 2 &&
        unhealthy.length === 2 &&
        unhealthy.every(({ name, codeowners }) => String(codeowners) === OWNERS[name]),
    },
    {
      what: "the gate says FAIL before flaky tests are quarantined, and then PASS while nothing else fails",
      kept: gate.unset.verdict === "FAIL" && gate.onlyFlaky.verdict === "PASS",
    },
    {
      what: "the gate says FAIL when the broken one fails, too: only the flaky one is quarantined",
      kept: gate.brokenToo.verdict === "FAIL" && String(quarantined) === String(["", flaky.test.id, flaky.test.id]),
    },
  ];
}
