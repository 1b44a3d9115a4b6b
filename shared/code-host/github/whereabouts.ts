/**
 * Which of GitHub's repositories a queue's `owner/name` is, and what that one is called now. Names are given up and
 * taken by others; numbers are not. The repository that had the name when it was first asked for is the queue's, for good.
 */
import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
import type { OrgSlug, RepoKey } from "../../kernel/ids.ts";
import { type Clock, type EpochMs, later, SECOND_MS } from "../../kernel/time.ts";
import { HostUnavailable, NotConnected } from "../port.ts";
import type { Ask, GitHubClient, InstallationOn } from "./client.ts";
import { unless } from "./place.ts";
import type { GitHubMemory, GitHubRepository, InstallationOf } from "./port.ts";

export type Found = GitHubRepository & { readonly installation: number };

/**
 * `NOW` for whatever changes something there, and for what is believed when it says that something is gone: a stranger may
 * have taken the name a moment ago. It costs nothing of what may be asked in an hour while all is as it was.
 */
export type Whereabouts = (key: RepoKey, when: "LATELY" | "NOW") => Promise<Found>;

export type Looking = {
  readonly org: OrgSlug;
  readonly host: string;
  readonly client: GitHubClient;
  readonly memory: GitHubMemory;
  readonly installationOf: InstallationOf;
  readonly clock: Clock;
};

const LATELY_MS = 5 * SECOND_MS;

type Look = { readonly found: Promise<Found>; readonly at: EpochMs; done: boolean };

export function createWhereabouts(on: Looking): Whereabouts {
  const looks = new Map<string, Look>();
  const known = new Map<string, GitHubRepository>();
  const look = (name: string, key: RepoKey): Promise<Found> => {
    const found = find(on, key, known.get(name));
    const one: Look = { found, at: on.clock(), done: false };
    looks.set(name, one);
    const keep = ({ installation: _installation, ...there }: Found) => void known.set(name, there);
    const drop = (): void => {
      looks.delete(name);
      // Somebody may have had it forgotten meanwhile.
      known.delete(name);
    };
    found.then(keep, drop).finally(() => (one.done = true));
    return found;
  };
  return async (key, when) => {
    const name = `${key.owner}/${key.name}`;
    const last = looks.get(name);
    if (last === undefined) return look(name, key);
    if (!last.done) return last.found;
    if (when === "NOW" || on.clock() >= later(last.at, LATELY_MS)) return look(name, key);
    const found = await last.found;
    // Whoever takes an installation away from an organization means now.
    const isLinked = (await on.installationOf(on.org, on.host, found.account)) === found.installation;
    return isLinked ? found : look(name, key);
  };
}

async function find(on: Looking, key: RepoKey, last: GitHubRepository | undefined, isAgain = false): Promise<Found> {
  const known = last ?? (await on.memory.repository(key));
  const found = known === undefined ? await findFirst(on, key) : await findAgain(on, key, known);
  const { installation: _installation, ...there } = found;
  if (isDeepStrictEqual(there, known) || (await on.memory.putRepository(key, there))) return found;
  if (isAgain) throw new HostUnavailable(`others look for ${key.owner}/${key.name} at this moment, too`);
  // Somebody else was first, and may have found another one: that one it is.
  return find(on, key, undefined, true);
}

async function findFirst(on: Looking, key: RepoKey): Promise<Found> {
  const installation = await on.installationOf(on.org, on.host, key.owner);
  if (installation === undefined) throw new NotConnected(notLinked(on.org, key.owner));
  const there = await read(on.client.as(installation), `/repos/${key.owner}/${key.name}`);
  if (there === undefined)
    throw new HostUnavailable(`GitHub knows no repository ${key.owner}/${key.name}, or does not let us see it`);
  if (there.owner.toLowerCase() === key.owner) return { ...there, account: key.owner, installation };
  return findById(on, key, { ...there, account: key.owner });
}

async function findAgain(on: Looking, key: RepoKey, known: GitHubRepository): Promise<Found> {
  const { owner, name, account } = known;
  const installation = await on.installationOf(on.org, on.host, account);
  if (installation === undefined) return findById(on, key, known);
  const there = await read(on.client.as(installation), `/repos/${owner}/${name}`);
  const isAtHome = there?.id === known.id && there.owner === owner;
  return isAtHome ? { ...there, account, installation } : findById(on, key, known);
}

/** Wherever it is by now, if an installation of this organization reaches it there. */
async function findById(on: Looking, key: RepoKey, { id, account: former }: GitHubRepository): Promise<Found> {
  const at = await on.client.installationOn(id);
  if (at === undefined) throw new NotConnected(gone(on.org, key, id));
  const account = await linkedAs(on, at, [at.account, former]);
  if (account === undefined) throw new NotConnected(moved(on.org, key, at.account));
  const there = await read(on.client.as(at.id), `/repositories/${id}`);
  if (there?.id !== id) throw new NotConnected(gone(on.org, key, id));
  return { ...there, account, installation: at.id };
}

/** An account that was renamed is linked under its former name. */
async function linkedAs(on: Looking, { id }: InstallationOn, accounts: readonly string[]): Promise<string | undefined> {
  for (const account of accounts) if ((await on.installationOf(on.org, on.host, account)) === id) return account;
  return undefined;
}

const repository = z.object({ id: z.int(), name: z.string(), owner: z.object({ login: z.string() }) });

async function read(ask: Ask, path: string): Promise<Omit<GitHubRepository, "account"> | undefined> {
  const found = await unless([404], () => ask(`GET ${path}`));
  if (found === undefined) return undefined;
  const { id, name, owner } = repository.parse(found.data);
  return { id, owner: owner.login, name };
}

const HOW = "npm run github-app -- link --org";

const notLinked = (org: OrgSlug, account: string): string =>
  `the GitHub App is not linked to organization ${org} for ${account}: ${HOW} ${org}`;

const moved = (org: OrgSlug, { owner, name }: RepoKey, account: string): string =>
  `${owner}/${name} belongs to ${account} now, and ${notLinked(org, account)}`;

const gone = (org: OrgSlug, { owner, name }: RepoKey, id: number): string =>
  `the repository that was ${owner}/${name} (GitHub's number ${id}) was removed, or moved to where the GitHub App is not ` +
  "installed: install the App there, and link it; or, if the repository that has the name by now is meant, " +
  `npm run github-app -- forget --org ${org} --repo ${owner}/${name}`;
