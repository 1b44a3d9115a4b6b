/** Folders of bare repositories, each the code host of exactly one organization. */
import { join } from "node:path";
import { createGitHost, type GitHost } from "../../shared/code-host/git/host.ts";
import { createLauncher } from "../../shared/code-host/git/launcher.ts";
import { never, type Permit, whileDiskIsFree } from "../../shared/code-host/git/permit.ts";
import { findSandbox, type Sandbox } from "../../shared/code-host/git/sandbox.ts";
import type { CheckReport, CodeHosts, HostNews } from "../../shared/code-host/port.ts";
import { type OrgSlug, repoKey } from "../../shared/kernel/ids.ts";
import type { Log } from "../../shared/kernel/log.ts";
import type { Clock } from "../../shared/kernel/time.ts";
import { reportChecks, reportRefs } from "../../shared/queue/app/news.ts";
import type { QueueApp } from "../../shared/queue/app/ports.ts";
import type { HealthApp } from "../../shared/test-health/app/ports.ts";
import { takeResults } from "../../shared/test-health/app/upload.ts";
import { oneLine } from "./cannot-start.ts";

export type RepositoriesOf = { readonly org: OrgSlug; readonly folder: string };

export type GitHostsOptions = {
  readonly data: string;
  readonly repositories: readonly RepositoriesOf[];
  /** The name under which all of them are known. */
  readonly host: string;
  readonly log: Log;
  readonly clock: Clock;
  /** Whether somebody vouches for everybody and everything on this machine, checks included. */
  readonly isTrusted: boolean;
  /** Whether anybody on this machine can connect to the table. */
  readonly isTableOpen: boolean;
  /** Below so much free space on the data disk no check starts. */
  readonly freeBytesMin: number;
  /** Made from these hosts: it is there before the first news is. */
  readonly app: () => QueueApp & HealthApp;
  readonly nudge: () => void;
};

export type GitHosts = {
  readonly hosts: CodeHosts;
  /** Takes up what an earlier process left, and begins to watch. */
  readonly recover: () => Promise<void>;
  readonly stop: () => Promise<void>;
};

/** News may be lost: the sweep asks again. */
function newsFor(org: OrgSlug, { app, log, nudge }: GitHostsOptions): HostNews {
  const bring = async (what: string, report: Promise<void>): Promise<void> => {
    try {
      await report;
      nudge();
    } catch (error) {
      log.warn("news of the code host were lost; the sweep will ask", { org, what, error: oneLine(error) });
    }
  };
  return {
    checksMoved: (repo, run) => void bring("checks", reportChecks(app(), org, repo, run)),
    refsMoved: (repo, moved) => void bring("refs", reportRefs(app(), org, repo, moved)),
    reported: async (repo, { bytes, check, ...about }) => {
      try {
        const taken = await takeResults(app(), { org, repo: repoKey(repo) }, factsOf(about, check), bytes, repo);
        if (!taken.ok) log.warn("a check's report cannot be read", { org, check, what: taken.fault.message });
        return true;
      } catch (error) {
        log.warn("a check's report was not taken; it is brought again", { org, check, error: oneLine(error) });
        return false;
      }
    },
  };
}

const factsOf = ({ run, branch, commit, prNumbers, attempt }: Omit<CheckReport, "bytes" | "check">, check: string) => ({
  sha: commit,
  branch,
  pullRequests: prNumbers,
  variant: "",
  job: check,
  attempt,
  at: null,
  runUrl: null,
  isMergeQueue: true,
  testRun: run,
});

const HOW = "install bubblewrap, or start with --trust-this-machine if you trust everybody who may push a pull request";

/** Without a sandbox, or beside a table that believes everybody, a check could do what the service can. */
function permitOf(options: GitHostsOptions, sandbox: Sandbox | undefined): Permit {
  const { isTrusted, isTableOpen, data, freeBytesMin } = options;
  if (!isTrusted && isTableOpen) return never(`its table is open to every program here: ${HOW}`);
  if (!isTrusted && sandbox?.confined === false) return never(`nothing here can confine one: ${HOW}`);
  return whileDiskIsFree(data, freeBytesMin);
}

export async function gitHosts(options: GitHostsOptions): Promise<GitHosts> {
  const { data, repositories, host, log, clock } = options;
  const byOrg = new Map<OrgSlug, GitHost>();
  // The data holds the admin token and every organization's work; a folder of repositories is one organization's alone.
  const hide = [data, ...repositories.map((one) => one.folder)];
  const sandbox = repositories.length === 0 ? undefined : await findSandbox({ hide, log });
  const permit = permitOf(options, sandbox);
  const launcher = createLauncher();
  if (sandbox !== undefined)
    for (const { org, folder } of repositories) {
      const work = join(data, "hosts", org);
      const news = newsFor(org, options);
      byOrg.set(
        org,
        await createGitHost({
          org,
          host,
          repositories: folder,
          work,
          news,
          log,
          clock,
          sandbox,
          launch: launcher.launch,
          permit,
          passing: (point) => options.app().passing(point),
        }),
      );
    }
  const all = [...byOrg.values()];
  return {
    hosts: (org, asked) => (asked === host ? byOrg.get(org) : undefined),
    recover: async () => {
      await Promise.all(all.map((one) => one.recover()));
      for (const one of all) one.watch();
    },
    stop: async () => {
      await Promise.all(all.map((one) => one.stop()));
      await launcher.stop();
    },
  };
}
