/** Looks at all refs once a second and tells which pull requests and branches moved. What is lost costs one sweep. */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { RepoKey } from "../../kernel/ids.ts";
import type { Log } from "../../kernel/log.ts";
import type { HostNews } from "../port.ts";
import { numberOf, OWN_BRANCHES } from "./names.ts";
import { pullsFolder } from "./pulls.ts";
import { refsMark } from "./refs-mark.ts";
import { listRefs, parseRefs } from "./refs.ts";
import type { Repositories, Repository } from "./repository.ts";

export type Watch = { readonly start: () => void; readonly stop: () => Promise<void> };

/** Looks again and again, with a pause between: a slow look delays the next, it never piles up. */
export function createWatch(look: () => Promise<void>, everyMs: number, log: Log): Watch {
  let ending = new AbortController();
  let done: Promise<void> | undefined;
  const loop = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      await look().catch((error: unknown) => log.error("A look at the repositories failed.", { what: String(error) }));
      await sleep(everyMs, undefined, { signal }).catch(() => {});
    }
  };
  return {
    start: () => {
      ending = done === undefined ? new AbortController() : ending;
      done ??= loop(ending.signal);
    },
    stop: async () => {
      ending.abort();
      await done;
      done = undefined;
    },
  };
}

type Refs = { readonly refs: string; readonly pulls: ReadonlyMap<string, string> };
type Seen = Refs & { readonly key: RepoKey; readonly mark: string | undefined };
const NOTHING = { refs: "", pulls: new Map<string, string>() };

/** One look at everything. The first look at a repository tells of all that is in it. */
export function createLook(repositories: Repositories, news: HostNews, log: Log): () => Promise<void> {
  const seen = new Map<string, Seen>();
  const failing = new Set<string>();

  const lookAt = async (label: string, key: RepoKey): Promise<void> => {
    const before = seen.get(label);
    const repo = await repositories.open(key);
    // Taken before the refs are read: what moves meanwhile is seen by the next look.
    const mark = await refsMark(repo.dir);
    const isUnmoved = mark !== undefined && mark === before?.mark;
    const refs = isUnmoved ? before.refs : await listRefs(repo, ["refs/heads", "refs/pull"]);
    const now = { key, mark, refs, pulls: await pullStamps(repo) };
    seen.set(label, now);
    tell(news, key, before ?? NOTHING, now);
  };

  const trouble = (label: string, error: unknown): void => {
    // Once per trouble, not once per second.
    if (!failing.has(label)) log.warn("A repository cannot be watched.", { repository: label, what: String(error) });
    failing.add(label);
  };

  return async () => {
    const keys = await repositories.list().catch((error: unknown) => {
      trouble("all", error);
      return [];
    });
    const present = new Map(keys.map((key) => [`${key.owner}/${key.name}`, key]));
    for (const [label, key] of present)
      await lookAt(label, key).then(
        () => failing.delete(label),
        (error: unknown) => trouble(label, error),
      );
    for (const [label, { key, ...before }] of seen)
      if (!present.has(label)) {
        seen.delete(label);
        tell(news, key, before, NOTHING);
      }
  };
}

function tell(news: HostNews, key: RepoKey, before: Refs, now: Refs): void {
  const refs = before.refs === now.refs ? [] : different(parseRefs(before.refs), parseRefs(now.refs));
  const files = different(before.pulls, now.pulls);
  const prNumbers = [...refs.map(numberOf), ...files.map((file) => Number.parseInt(file, 10))].filter(
    (number): number is number => number !== undefined,
  );
  const branches = refs
    .filter((ref) => ref.startsWith("refs/heads/") && !ref.startsWith(OWN_BRANCHES))
    .map((ref) => ref.slice("refs/heads/".length));
  const numbers = [...new Set(prNumbers)].toSorted((a, b) => a - b);
  if (branches.length > 0) news.refsMoved(key, { prNumbers: numbers.splice(0, PORTION), branches });
  while (numbers.length > 0) news.refsMoved(key, { prNumbers: numbers.splice(0, PORTION), branches: [] });
}

/** The first look at a large repository finds everything moved; one piece of news stays of a size that can be stored. */
const PORTION = 1_000;

/** Keys whose values are not the same in both, or that are in one only. */
const different = (before: ReadonlyMap<string, string>, now: ReadonlyMap<string, string>): readonly string[] =>
  [...new Set([...before.keys(), ...now.keys()])].filter((key) => before.get(key) !== now.get(key));

async function pullStamps(repo: Repository): Promise<ReadonlyMap<string, string>> {
  const folder = pullsFolder(repo.dir);
  const files = (await readdir(folder).catch(() => [])).filter((file) => /^[1-9]\d*\.json$/u.test(file));
  const stamps = new Map<string, string>();
  for (const file of files) {
    const found = await stat(join(folder, file), { bigint: true }).catch(() => undefined);
    if (found !== undefined) stamps.set(file, `${found.ino} ${found.mtimeNs}`);
  }
  return stamps;
}
