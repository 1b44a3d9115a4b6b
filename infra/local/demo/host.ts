/** Where the demo's repositories are: a folder of bare ones, or GitHub's twin. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { LOCAL_ORG } from "../admin-token.ts";
import type { RepositoriesOf } from "../git-hosts.ts";
import { type DemoRepository, makeRepository } from "./repository.ts";
import type { Promised, Sample } from "./scene.ts";

export type Reached = { readonly url: string; readonly token: string };

export type DemoHost = {
  /** The host under which the service knows the repositories. */
  readonly name: string;
  /** Folders of bare repositories that the service is to look after itself. */
  readonly repositories: readonly RepositoriesOf[];
  /** How the server could have been started by hand. */
  readonly startArguments: string;
  /** What every queue of the demo is made with, beside what its scene is about. */
  readonly queueSettings: Readonly<Record<string, unknown>>;
  /** Once, when the server is up. */
  readonly connect: (reached: Reached) => Promise<void>;
  readonly make: (sample: Sample) => Promise<DemoRepository>;
  /** What is promised of the host itself, when all scenes are over. */
  readonly promises: () => Promise<readonly Promised[]>;
  readonly stop: () => Promise<void>;
};

export const GIT_HOST = "git.local";

export function gitFolder(folder: string): DemoHost {
  const repositories = join(folder, "repositories");
  mkdirSync(repositories);
  return {
    name: GIT_HOST,
    repositories: [{ org: LOCAL_ORG, folder: repositories }],
    startArguments: `--repositories ${repositories}`,
    queueSettings: {},
    connect: async () => {},
    make: (sample) => makeRepository(repositories, join(folder, "authors"), sample),
    promises: async () => [],
    stop: async () => {},
  };
}
