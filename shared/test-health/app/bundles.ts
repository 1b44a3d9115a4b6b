/** Bundles of existing upload clients, that were announced and put where they are told to: read by a worker. */
import { type RepoKey, repoKey } from "../../kernel/ids.ts";
import { epochMs, MINUTE_MS, SECOND_MS } from "../../kernel/time.ts";
import { OPEN_MS, uploadIdOf } from "./announce.ts";
import { type Bundle as Archive, readBundle } from "./bundle.ts";
import { factsOfEnvironment } from "./ci-environment.ts";
import type { Bundle, BundleDoor, HealthApp, Repository, UploadAnswer } from "./ports.ts";
import { Unavailable } from "../../kernel/unavailable.ts";
import type { Issue } from "../junit/report.ts";
import { isDefaultBranch } from "./settings.ts";
import { type SentFacts, takeResults } from "./upload.ts";

/** Whoever began to send just before the end is given time. */
const GIVEN_UP_AFTER_MS = OPEN_MS + 5 * MINUTE_MS;
const FAILURES_MAX = 5;
const ISSUES_MAX = 100;

type App = HealthApp & { readonly uploads: BundleDoor };
type Read = Extract<Archive, { kind: "READ" }>;

/** Reads every bundle that has come. One that fails is tried again, and given up after some times. */
export async function readBundles(app: App): Promise<void> {
  for (const bundle of await app.health.bundles()) {
    try {
      await readOne(app, bundle);
    } catch (error) {
      // An outage is no reason to give a bundle up, nor is an item that only the next deployment understands.
      if (error instanceof Unavailable) app.log.warn("a bundle of test results waits", { bundle: bundle.id });
      else await failed(app, bundle, error);
    }
  }
}

async function failed(app: App, bundle: Bundle, error: unknown): Promise<void> {
  const { id, failures } = bundle;
  app.log.error("a bundle of test results could not be read", {
    bundle: id,
    failures: failures + 1,
    error: String(error),
  });
  if (failures + 1 < FAILURES_MAX) return app.health.putBundle({ ...bundle, failures: failures + 1 });
  await end(app, bundle, "It could not be processed for a reason of the service's own; send it again.", null);
}

async function readOne(app: App, bundle: Bundle): Promise<void> {
  const { id, announcedAt } = bundle;
  const bytes = await app.uploads.readUpload(uploadIdOf(id));
  if (bytes === undefined) {
    if (app.clock() > announcedAt + GIVEN_UP_AFTER_MS) await end(app, bundle, "Nothing was put to its address.", null);
    return;
  }
  const read = await readBundle(inChunks(bytes));
  if (read.kind === "REFUSED") return end(app, bundle, read.why, null);
  const { repo_head_sha: sha, repo_head_branch: branch } = read.meta.repo;
  if (sha === "") return end(app, bundle, "meta.json names no commit (repo.repo_head_sha).", null);
  await end(app, bundle, null, await takeAll(app, bundle, read, sha, branch));
}

const CHUNK_BYTES = 64 * 1024;

async function* inChunks(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) yield bytes.subarray(at, at + CHUNK_BYTES);
}

/** Every report of the bundle as an upload of its own; what cannot be read of it is an issue, and the rest counts. */
async function takeAll(
  app: App,
  { id, repository, announcedAt }: Bundle,
  { meta, files, codeowners, issues }: Read,
  sha: string,
  branch: string,
): Promise<UploadAnswer> {
  await keepOwners(app, repository, branch, codeowners);
  const at = meta.upload_time_epoch === null ? announcedAt : epochMs(meta.upload_time_epoch * SECOND_MS);
  const facts: SentFacts = {
    sha: sha.toLowerCase(),
    branch: branch === "" ? "HEAD" : branch,
    variant: meta.variant,
    at,
    isMergeQueue: false,
    testRun: null,
    ...factsOfEnvironment(meta.envs),
  };
  // Ids are made of the repository's name as the client writes it, if it is the one that the bundle was announced for.
  const written = isSame(repository.repo, meta.repo.repo) ? meta.repo.repo : repository.repo;
  const found: Issue[] = issues.map(({ path, message }) => ({
    line: 0,
    column: 0,
    message: `${path}: ${message}`,
  }));
  const answers: UploadAnswer[] = [];
  for (const { path, bytes } of files) {
    const taken = await takeResults(app, repository, facts, bytes, written);
    if (taken.ok) answers.push(taken.value);
    else found.push({ line: 0, column: 0, message: `${path}: ${taken.fault.message}` });
    if (taken.ok)
      for (const issue of taken.value.issues) found.push({ ...issue, message: `${path}: ${issue.message}` });
  }
  const sum = (name: "tests" | "failures" | "errors" | "skipped"): number =>
    answers.reduce((total, answer) => total + answer[name], 0);
  return {
    uploadId: id,
    tests: sum("tests"),
    failures: sum("failures"),
    errors: sum("errors"),
    skipped: sum("skipped"),
    issues: found.slice(0, ISSUES_MAX),
    quarantined: [...new Set(answers.flatMap(({ quarantined }) => quarantined))],
    verdict: answers.every(({ verdict }) => verdict === "PASS") ? "PASS" : "FAIL",
  };
}

const isSame = (a: RepoKey, b: RepoKey): boolean => JSON.stringify(repoKey(a)) === JSON.stringify(repoKey(b));

/** The default branch's file is the repository's; before it has come, any is better than none. */
async function keepOwners(app: App, of: Repository, branch: string, codeowners: string | null): Promise<void> {
  if (codeowners === null || codeowners.length > OWNERS_CHARACTERS_MAX) return;
  const settings = await app.health.settings(of);
  if (settings.codeowners === codeowners) return;
  if (settings.codeowners === null || isDefaultBranch(settings, branch))
    await app.health.changeSettings(of, (present) => ({ ...present, codeowners }));
}

const OWNERS_CHARACTERS_MAX = 300_000;

/** Its record first: a bundle that is read twice says the same twice. */
async function end(app: App, bundle: Bundle, problem: string | null, answer: UploadAnswer | null): Promise<void> {
  const { id, repository, announcedAt: receivedAt } = bundle;
  const state = problem === null ? "PROCESSED" : "FAILED";
  await app.health.putRecord(repository, { id, receivedAt, state, problem, facts: null, answer });
  await app.health.removeBundle(id);
  await app.uploads.removeUpload(uploadIdOf(id));
}
