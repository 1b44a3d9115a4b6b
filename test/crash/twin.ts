/** The same sample on GitHub's twin, which lives on while the server dies: webhooks come to nobody then. */
import { join } from "node:path";
import type * as z from "zod";
import { PERMISSIONS } from "../../infra/admin/github-manifest.ts";
import { createCi } from "../../infra/local/demo/ci.ts";
import { writeGitHubApp } from "../../infra/local/github-app.ts";
import { commitSha, repoKey } from "../../shared/kernel/ids.ts";
import { config, repositoryAt } from "../support/git-repository.ts";
import { type GitHubTwin, startGitHubTwin } from "../support/github/twin.ts";
import { link } from "../support/github-service.ts";
import type { CrashHost } from "./hosts.ts";
import { CHECK, CHECKS, filesOf, pushByHand, type Sample, TARGETS } from "./sample.ts";

const APP = "acme/app";
const SLOW = "acme/slow";

export async function onTwin(folder: string, data: string): Promise<CrashHost> {
  const twin = await startGitHubTwin({ folder: join(folder, "github") });
  const paths = new Map<string, string>();
  const add = async (name: string, files: Readonly<Record<string, string>>) => {
    const { path, sha } = await twin.addRepository(name, { files });
    paths.set(name, path);
    const [owner = "", short = ""] = name.split("/");
    return { ...repositoryAt(path, repoKey({ host: "github.com", owner, name: short })), start: commitSha(sha) };
  };
  const files = { "check.sh": CHECK, "src/0.txt": "0\n", ...config(CHECKS, Object.keys(CHECKS), TARGETS) };
  const { start, ...repo } = await add(APP, files);
  await twin.installation("acme");
  twin.setPermissions("acme", PERMISSIONS);
  const { appId, slug, privateKey, webhookSecret } = twin.app;
  const app = { appId, slug, privateKey, webhookSecret, limits: "none" } as const;
  writeGitHubApp(data, { host: "github.com", web: twin.url, api: twin.url, ...app });
  const ci = playCi(twin, folder, (name) => paths.get(name) ?? "");
  return {
    args: [],
    sample: { repo, start, ...played(twin, repo) },
    slow: async (count) => {
      const slow = await add(SLOW, { "a.txt": "a\n", ...config({ unit: "sleep 600" }, ["unit"]) });
      for (let number = 1; number <= count; number += 1)
        await twin.openPullRequest(SLOW, { head: `slow-${number}`, base: "main", files: { [`${number}.txt`]: "x\n" } });
      return { repo: slow, token: undefined };
    },
    isUp: (url) => twin.webhooksTo(`${url}/webhooks/github`, webhookSecret),
    connect: async () => {
      const { code, said } = await link(data, "local", await twin.installation("acme"));
      if (code !== 0) throw new Error(`the installation could not be linked: ${said}`);
    },
    left: () => leftDrafts(twin, [...paths.keys()]),
    stop: async () => {
      ci.stop();
      await twin.stop();
    },
  };
}

function playCi(twin: GitHubTwin, folder: string, bareOf: (name: string) => string) {
  const verbs = new Map<string, unknown>(Object.entries(twin));
  const ask = async <T>(shape: z.ZodType<T>, verb: string, ...given: readonly unknown[]): Promise<T> => {
    const found = verbs.get(verb);
    if (typeof found !== "function") throw new Error(`the twin knows no ${verb}`);
    const answered: unknown = await found(...given);
    return shape.parse(answered);
  };
  // A branch may be gone before its check begins.
  const quiet = { report: async () => {}, complain: () => {} };
  const ci = createCi({ folder: join(folder, "ci"), bareOf, twin: () => ({ ask }), ...quiet });
  twin.onPush((pushed) => ci.hear({ pushed }));
  twin.onRerun((rerun) => ci.hear({ rerun: { ...rerun, names: [...rerun.names] } }));
  twin.onCancel((cancelled) => ci.hear({ cancelled }));
  return ci;
}

function played(twin: GitHubTwin, repo: Parameters<typeof pushByHand>[0]): Omit<Sample, "repo" | "start"> {
  const numbers: number[] = [];
  const heads = new Map<number, string>();
  let pushes = 0;
  return {
    numbers,
    open: async () => {
      const kind = heads.size + 1;
      const head = `change-${kind}`;
      heads.set(-kind, head);
      const wanted = { head, base: "main", title: `Change ${kind}`, files: filesOf(kind) };
      const number = await twin.openPullRequest(APP, wanted);
      heads.delete(-kind);
      heads.set(number, head);
      numbers.push(number);
      return number;
    },
    push: async (prNumber) => {
      pushes += 1;
      const files = { [`src/${prNumber}-${pushes}.txt`]: "more\n" };
      await twin.push(APP, heads.get(prNumber) ?? "", { files, message: `Change ${prNumber} again` });
    },
    pushTarget: () => {
      pushes += 1;
      return pushByHand(repo, pushes);
    },
    comment: async (prNumber, text) => void (await twin.comment(APP, prNumber, "ada", text)),
  };
}

const leftDrafts = (twin: GitHubTwin, names: readonly string[]): readonly string[] =>
  names.flatMap((name) =>
    twin
      .pulls(name)
      .filter((one) => one.state === "open" && one.author.login === `${twin.app.slug}[bot]`)
      .map((one) => `${name} still has the draft pull request #${one.number}`),
  );
