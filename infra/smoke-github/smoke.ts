/** All of it in its order: the App, a place of its own, what the adapter does there, and what a service makes of it. */
import { randomBytes } from "node:crypto";
import { type InstalledOn, installationOnRepository, slugOfApp } from "../../shared/code-host/github/app.ts";
import { createClient } from "../../shared/code-host/github/client.ts";
import { createGitHubHost } from "../../shared/code-host/github/host.ts";
import { orgSlug, repoKey } from "../../shared/kernel/ids.ts";
import { systemClock } from "../../shared/kernel/time.ts";
import { PERMISSIONS } from "../admin/github-manifest.ts";
import type { GitHubSmoke } from "./arguments.ts";
import { memoryOfOne } from "./memory.ts";
import { scratchOf } from "./scratch.ts";
import { createSteps, expect, Stopped, type Steps } from "./steps.ts";
import { throughService } from "./through-service.ts";
import { verbs } from "./verbs.ts";

/** Answers how many steps failed. */
export async function smokeGitHub(given: GitHubSmoke, print: (line: string) => void): Promise<number> {
  const steps = createSteps(print);
  const name = `mainline-smoke-${randomBytes(4).toString("hex")}`;
  print(
    `${given.app.api}, ${given.owner}/${given.name}. What is made there begins with ${name}, and is removed again.`,
  );
  try {
    await through(given, steps, name);
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
  }
  return steps.failed();
}

async function through(given: GitHubSmoke, steps: Steps, name: string): Promise<void> {
  const { owner, host: hostName, waitMinutes, service } = given;
  const installed = await access(given, steps);
  const client = createClient(given.app, systemClock);
  const ask = client.as(installed.id);
  const scratch = scratchOf({ ask, at: { owner, repo: given.name } }, name);
  const installationOf = async (): Promise<number> => installed.id;
  const host = createGitHubHost({
    org: orgSlug("smoke"),
    host: hostName,
    client,
    memory: memoryOfOne(),
    installationOf,
  });
  const repo = repoKey({ host: hostName, owner, name: given.name });
  try {
    await steps.step(
      { name: "a branch is made", otherwise: "give the App Contents and Workflows: read and write." },
      async () => [`${name} at ${(await scratch.make()).slice(0, 7)}`, undefined],
    );
    await verbs({ host, repo, scratch, steps, name, waitMinutes });
    if (service !== undefined) await throughService(given, service, scratch, steps);
  } finally {
    await steps.tidy(
      { name: "what was made is removed", otherwise: `delete the branches ${name}… by hand.` },
      async () => `${await scratch.remove()} branches`,
    );
  }
}

async function access({ app, owner, name }: GitHubSmoke, steps: Steps): Promise<InstalledOn> {
  await steps.step(
    { name: "GitHub takes the App's key", otherwise: "take number and key from the App's page; a key is of one App." },
    async () => {
      const slug = await slugOfApp(app);
      expect(slug !== undefined, `${app.api} does not take it as a key of App ${app.appId}`);
      return [slug, undefined];
    },
  );
  const installed = await steps.step(
    { name: "it is installed on the repository", otherwise: `install it on ${owner}, for ${name}, from its page.` },
    async () => {
      const found = await installationOnRepository(app, owner, name);
      expect(found !== undefined, `no installation of it reaches ${owner}/${name}`);
      expect(!found.isSuspended, "the installation is suspended");
      return [`installation ${found.id}`, found];
    },
  );
  await steps.step(
    {
      name: "it may do what it asks for",
      otherwise: "change the App's permissions, and accept them at the installation.",
    },
    async () => {
      const lacks = Object.entries(PERMISSIONS).filter(([right, level]) => !has(installed.permissions[right], level));
      expect(lacks.length === 0, `it lacks ${lacks.map(([right, level]) => `${right}: ${level}`).join(", ")}`);
      return [`${Object.keys(PERMISSIONS).length} permissions`, undefined];
    },
  );
  return installed;
}

const has = (given: string | undefined, wanted: string): boolean => given === "write" || given === wanted;
