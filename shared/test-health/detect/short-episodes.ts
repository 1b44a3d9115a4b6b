/**
 * A test that fails on a commit or two and then passes, again and again. A single episode is as well a real break that
 * was mended or reverted at once, and only their number tells chance from that.
 */
import { DAY_MS, type EpochMs, epochMs, MINUTE_MS } from "../../kernel/time.ts";
import { counted, type Finding, type Saying, type Strength, shortSha, uploadsOf } from "./finding.ts";
import type { Evidence, Observation } from "./history.ts";
import { KEPT_SHARE, type ShortEpisodesRule } from "./rules.ts";
import { byBranch, hasOnlyFailed, hasPassed } from "./runs.ts";

export function shortEpisodes(runs: readonly Observation[], rule: ShortEpisodesRule, now: EpochMs): Finding {
  // A commit that stands on several branches failed once.
  const episodes = new Map<string, Evidence>();
  for (const branch of byBranch(runs).values())
    for (const episode of episodesOf(branch, rule)) episodes.set(episode.sha, episode);
  const newest = [...episodes.values()].toSorted((a, b) => b.at - a.at || (a.sha < b.sha ? -1 : 1));
  const count: Decay = { times: newest.map((one) => one.at), halfLifeMs: rule.halfLifeDays * DAY_MS };
  const keptFrom = rule.countMin * KEPT_SHARE;
  const saying = (from: EpochMs): Saying => ({ from, strength: strengthOf(countAt(count, from), rule.countMin) });
  const ends = [rule.countMin, keptFrom].flatMap((level) => firstBelow(count, level, now) ?? []);
  const latest = newest[0] === undefined ? "" : `, latest at ${shortSha(newest[0].sha)}`;
  const weighed = countAt(count, now).toFixed(1);
  return {
    rule: "short-episodes",
    says: "FLAKY",
    forecast: [saying(now), ...ends.map(saying)],
    reason:
      `failed for at most ${counted(rule.commitsMax, "commit")} and then passed, ${counted(newest.length, "time")}, ` +
      `which count as ${weighed} with a half-life of ${counted(rule.halfLifeDays, "day")}${latest}`,
    evidence: newest,
  };
}

function strengthOf(count: number, countMin: number): Strength {
  if (count >= countMin) return "ENOUGH";
  return count >= countMin * KEPT_SHARE && count > 0 ? "TO_KEEP" : "NOTHING";
}

type Commit = {
  /** Of its first run: a re-run of an old commit moves nothing. */
  readonly at: EpochMs;
  readonly runs: readonly Observation[];
  readonly passedAt: EpochMs | null;
};

/**
 * Between two commits that passed, so that the end of a long failure whose beginning is not known, or a new test that
 * never worked, is none. Where runs lie close together their order is not that of their commits: the pass of an older
 * commit comes in among the failures of a break, or that of the mended one before the last of them, and one break would
 * be three short episodes. So a pass divides failures only if it is clear of those on both sides.
 */
function* episodesOf(branch: readonly Observation[], rule: ShortEpisodesRule): Generator<Evidence> {
  if (!branch.some(hasOnlyFailed)) return;
  const apartMs = rule.apartMinutes * MINUTE_MS;
  let hasPass = false;
  let failed: Commit[] = [];
  let clear: Commit | null = null;
  for (const commit of commitsOf(branch)) {
    const last = failed.at(-1);
    if (commit.passedAt !== null) {
      if (last === undefined) hasPass = true;
      else if (commit.at - last.at > apartMs) clear ??= commit;
    } else if (clear !== null && commit.at - clear.at > apartMs) {
      yield* episodeOf(failed, hasPass, clear, rule);
      [hasPass, failed, clear] = [true, [commit], null];
    } else {
      failed.push(commit);
      clear = null;
    }
  }
  if (clear !== null) yield* episodeOf(failed, hasPass, clear, rule);
}

/** A commit that passed at any time has passed; if it failed as well, that is for the other rule. */
function commitsOf(branch: readonly Observation[]): readonly Commit[] {
  const commits = new Map<string, Observation[]>();
  for (const run of branch) {
    const known = commits.get(run.sha);
    if (known === undefined) commits.set(run.sha, [run]);
    else known.push(run);
  }
  return Array.from(commits.values(), (runs) => ({
    at: runs[0]?.at ?? epochMs(0),
    runs,
    passedAt: runs.find(hasPassed)?.at ?? null,
  }));
}

function episodeOf(
  failed: readonly Commit[],
  hasPass: boolean,
  { passedAt }: Commit,
  { commitsMax }: ShortEpisodesRule,
): readonly Evidence[] {
  const runs = failed.flatMap((commit) => commit.runs);
  const sha = runs[0]?.sha;
  if (!hasPass || failed.length > commitsMax || sha === undefined || passedAt === null) return [];
  const what = `failed on ${counted(failed.length, "commit")} from ${shortSha(sha)} and then passed`;
  return [{ rule: "short-episodes", sha, at: passedAt, uploads: uploadsOf(runs), what }];
}

type Decay = { readonly times: readonly EpochMs[]; readonly halfLifeMs: number };

const countAt = ({ times, halfLifeMs }: Decay, now: EpochMs): number =>
  times.reduce((sum, at) => sum + 2 ** (-(now - at) / halfLifeMs), 0);

/**
 * The first millisecond at which the count is below a level; null when it is already, or never will be. All weights
 * shrink alike, so the time is a logarithm; rounding is put right by looking.
 */
function firstBelow(count: Decay, level: number, now: EpochMs): EpochMs | null {
  const have = countAt(count, now);
  if (have < level || have <= 0) return null;
  const leftMs = Math.ceil(count.halfLifeMs * Math.log2(have / level));
  if (!Number.isSafeInteger(leftMs)) return null;
  let at = epochMs(now + Math.max(1, leftMs));
  while (countAt(count, at) >= level) at = epochMs(at + 1);
  while (at > now + 1 && countAt(count, epochMs(at - 1)) < level) at = epochMs(at - 1);
  return at;
}
