/**
 * A test that fails on a commit or two and then passes, again and again. A single episode is as well a real break that
 * was mended or reverted at once, and only their number tells chance from that.
 */
import { DAY_MS, type EpochMs, epochMs } from "../../kernel/time.ts";
import { counted, type Finding, type Saying, type Strength, shortSha, uploadsOf } from "./finding.ts";
import type { Evidence, Observation } from "./history.ts";
import { KEPT_SHARE, type ShortEpisodesRule } from "./rules.ts";
import { byBranch, hasOnlyFailed, hasPassed } from "./runs.ts";

export function shortEpisodes(runs: readonly Observation[], rule: ShortEpisodesRule, now: EpochMs): Finding {
  // A commit that stands on several branches failed once.
  const episodes = new Map<string, Evidence>();
  for (const branch of byBranch(runs).values())
    for (const episode of episodesOf(branch, rule.commitsMax)) episodes.set(episode.sha, episode);
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

type Commit = { readonly runs: readonly Observation[]; readonly passedAt: EpochMs | null };

/**
 * Between two commits that passed, so that the end of a long failure whose beginning is not known, or a new test that
 * never worked, is none. Commits stand in the order of their first runs: a re-run of an old one moves nothing. A commit
 * that passed at any time has passed; if it failed as well, that is for the other rule.
 */
function* episodesOf(branch: readonly Observation[], commitsMax: number): Generator<Evidence> {
  let hasPass = false;
  let failed: Commit[] = [];
  for (const commit of commitsOf(branch)) {
    if (commit.passedAt === null) {
      failed.push(commit);
      continue;
    }
    if (hasPass && failed.length > 0 && failed.length <= commitsMax) yield episodeOf(failed, commit.passedAt);
    hasPass = true;
    failed = [];
  }
}

function commitsOf(branch: readonly Observation[]): readonly Commit[] {
  const judged = branch.filter((run) => hasPassed(run) || hasOnlyFailed(run));
  const commits = Map.groupBy(judged, (run) => run.sha);
  return [...commits.values()].map((runs) => ({ runs, passedAt: runs.find(hasPassed)?.at ?? null }));
}

function episodeOf(failed: readonly Commit[], passedAt: EpochMs): Evidence {
  const runs = failed.flatMap((commit) => commit.runs);
  const sha = runs[0]?.sha ?? "";
  return {
    rule: "short-episodes",
    sha,
    at: passedAt,
    uploads: uploadsOf(runs),
    what: `failed on ${counted(failed.length, "commit")} from ${shortSha(sha)} and then passed`,
  };
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
