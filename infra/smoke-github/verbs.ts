/** What a queue does with one pull request, as the service does it, but by hand. */
import type { CodeHost } from "../../shared/code-host/port.ts";
import { entryId, type RepoKey, runId } from "../../shared/kernel/ids.ts";
import { epochMs, MINUTE_MS, SECOND_MS } from "../../shared/kernel/time.ts";
import type { Change } from "../../shared/queue/engine/types.ts";
import { CHECK, type PullRequest, type Scratch } from "./scratch.ts";
import { expect, type Steps, until } from "./steps.ts";

export type Verbs = {
  readonly host: CodeHost;
  readonly repo: RepoKey;
  readonly scratch: Scratch;
  readonly steps: Steps;
  readonly name: string;
  readonly waitMinutes: number;
};

const EVERY_MS = 2 * SECOND_MS;

export async function verbs(on: Verbs): Promise<void> {
  const { scratch, steps, host, repo, name } = on;
  const pr = await steps.step(
    { name: "a pull request is opened", otherwise: "give the App Pull requests: read and write." },
    async () => {
      const opened = await scratch.open();
      return [`#${opened.number} from ${opened.branch} into ${scratch.base}`, opened];
    },
  );
  await facts(on, pr);
  const run = runId(name);
  const branch = `mainline/pr-${pr.number}/${name}`;
  try {
    await tested(on, pr, { run, branch });
  } finally {
    await steps.tidy(
      { name: "the testing branch is removed", otherwise: `delete ${branch} and close its draft by hand.` },
      async () => {
        await host.closeRun(repo, run, branch);
        return branch;
      },
    );
  }
}

function facts({ steps, host, repo, scratch }: Verbs, pr: PullRequest): Promise<void> {
  return steps.step(
    {
      name: "GitHub says that it can be merged",
      otherwise: `see the pull request's page; rules of the repository may hold for all branches, ${scratch.base} among them.`,
    },
    async () => {
      const read = () => host.pullRequest(repo, pr.number, scratch.base);
      const isKnown = (found: Awaited<ReturnType<typeof read>>) =>
        found !== "NOT_FOUND" && found.mergeability !== "IN_PROGRESS" && found.mergeability !== "UNSPECIFIED";
      const found = await until(read, isKnown, { ms: MINUTE_MS, everyMs: EVERY_MS, what: "it did not say" });
      expect(found !== "NOT_FOUND" && found.headSha === pr.headSha, `its head is not ${pr.headSha}`);
      expect(found.mergeability === "MERGEABLE", `it is ${found.mergeability}: ${found.obstacle ?? "no reason given"}`);
      return [`at ${pr.headSha.slice(0, 7)}`, undefined];
    },
  );
}

type Testing = { readonly run: ReturnType<typeof runId>; readonly branch: string };

async function tested(on: Verbs, pr: PullRequest, { run, branch }: Testing): Promise<void> {
  const { steps, host, repo, scratch, waitMinutes } = on;
  const change: Change = {
    entry: entryId(on.name),
    prNumber: pr.number,
    headSha: pr.headSha,
    title: "Smoke test",
    author: { name: "Mainline", email: "smoke@example.org" },
    date: epochMs(Date.now()),
  };
  const base = await scratch.tip();
  const merge = { repo, base, changes: [change], mergeMethod: "MERGE_COMMIT", targetBranch: scratch.base } as const;
  const built = await steps.step(
    {
      name: "a testing branch is built, with a draft pull request",
      otherwise:
        "give the App Contents and Workflows: read and write; rules may keep it from making mainline/ branches.",
    },
    async () => {
      const made = await host.buildRun({ ...merge, run, branch, required: [CHECK], opensDraft: true });
      expect(made.ok, made.ok ? "" : JSON.stringify(made.why));
      return [`${branch} at ${made.value.commit.slice(0, 7)}`, made.value];
    },
  );
  await steps.step(
    {
      name: "its workflow reports",
      otherwise: "see the Actions tab: they may be disabled for the repository, or wait for a runner or an approval.",
    },
    async () => {
      const read = () => host.statuses(repo, run);
      const isOver = (found: Awaited<ReturnType<typeof read>>) =>
        found.statuses.some(({ context, state }) => context === CHECK && state !== "PENDING");
      const how = { ms: waitMinutes * MINUTE_MS, everyMs: EVERY_MS, what: `${CHECK} did not report` };
      const { statuses } = await until(read, isOver, how);
      const state = statuses.find(({ context }) => context === CHECK)?.state;
      expect(state === "SUCCESS", `${CHECK} is ${state}`);
      return [`${CHECK} is SUCCESS`, undefined];
    },
  );
  await steps.step(
    {
      name: "it lands: the branch is moved to what was tested",
      otherwise: `see whether a rule keeps the App from pushing to ${scratch.base}; it has to be let past for the real target too.`,
    },
    async () => {
      const asked = { ...merge, run, targetBranch: scratch.base, ...built, expectedTip: base };
      const landed = await host.land(asked);
      expect(landed.ok, landed.ok ? "" : JSON.stringify(landed.why));
      const tip = await scratch.tip();
      expect(tip === landed.value.tip.sha, `${scratch.base} is at ${tip}, and not at ${landed.value.tip.sha}`);
      expect(landed.value.trees === "EQUAL", "what landed is not what was tested");
      return [`${scratch.base} is at ${tip.slice(0, 7)}`, undefined];
    },
  );
}
