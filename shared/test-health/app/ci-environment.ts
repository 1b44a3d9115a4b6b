/** What a CI system says of a run in its environment: the pull request, the job, the attempt, the page to look at. */

type Environment = Readonly<Record<string, string>>;

export type EnvironmentFacts = {
  readonly pullRequests: readonly number[];
  readonly job: string;
  readonly attempt: number;
  readonly runUrl: string | null;
};

/** Each where a system keeps it; the first that is there counts. */
const JOBS = ["GITHUB_JOB", "CI_JOB_NAME", "BUILDKITE_LABEL", "CIRCLE_JOB", "DRONE_STAGE_NAME", "JOB_NAME"];
const RUN_URLS = ["CI_JOB_URL", "BUILDKITE_BUILD_URL", "CIRCLE_BUILD_URL", "DRONE_BUILD_LINK", "BUILD_URL"];
const PULL_REQUESTS = [
  "CI_MERGE_REQUEST_IID",
  "BUILDKITE_PULL_REQUEST",
  "CHANGE_ID",
  "DRONE_PULL_REQUEST",
  "PR_NUMBER",
];

export function factsOfEnvironment(envs: Environment): EnvironmentFacts {
  const pr = pullRequestOf(envs);
  return {
    pullRequests: pr === undefined ? [] : [pr],
    job: (first(envs, JOBS) ?? "").slice(0, 200),
    attempt: attemptOf(envs),
    runUrl: githubRun(envs) ?? first(envs, RUN_URLS) ?? null,
  };
}

const valueOf = (envs: Environment, name: string): string | undefined => {
  const value = Object.hasOwn(envs, name) ? envs[name] : undefined;
  return value === "" ? undefined : value;
};

const first = (envs: Environment, names: readonly string[]): string | undefined =>
  names.map((name) => valueOf(envs, name)).find((value) => value !== undefined);

function pullRequestOf(envs: Environment): number | undefined {
  const ofRef = /^refs\/pull\/(\d{1,10})\//u.exec(valueOf(envs, "GITHUB_REF") ?? "")?.[1];
  const ofUrl = /\/(\d{1,10})$/u.exec(valueOf(envs, "CIRCLE_PULL_REQUEST") ?? "")?.[1];
  const number = Number(ofRef ?? first(envs, PULL_REQUESTS) ?? ofUrl);
  return Number.isSafeInteger(number) && number > 0 ? number : undefined;
}

/** Counted from 1. */
function attemptOf(envs: Environment): number {
  const github = Number(valueOf(envs, "GITHUB_RUN_ATTEMPT"));
  const retries = Number(valueOf(envs, "BUILDKITE_RETRY_COUNT"));
  const attempt = Number.isSafeInteger(github) ? github : Number.isSafeInteger(retries) ? retries + 1 : 1;
  return Math.min(1000, Math.max(1, attempt));
}

function githubRun(envs: Environment): string | undefined {
  const [server, name, run] = ["GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_RUN_ID"].map((one) =>
    valueOf(envs, one),
  );
  return server && name && run ? `${server}/${name}/actions/runs/${run}` : undefined;
}
