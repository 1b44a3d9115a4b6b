/** What people say on pull requests of GitHub, who they are, and what they may do. */
import { commitSha } from "../../kernel/ids.ts";
import { type EpochMs, epochMs, SECOND_MS, toRfc3339 } from "../../kernel/time.ts";
import type { Comment, Labelled, People, Person, Pull, Right } from "../people.ts";
import type { Ask } from "./client.ts";
import { type Place, requireRepository, unless } from "./place.ts";
import { type Ends, isFromFork, readPull } from "./pull-request.ts";

const PAGE = 100;
const PAGES_MAX = 3;
/** They are told newest first: what is beyond is not told at the next look either. */
const PULL_PAGES_MAX = 10;
/** Most of a pull request's life is not about labels. */
const EVENT_PAGES_MAX = 20;

const at = (text: string): EpochMs => epochMs(Date.parse(text));

type Account = { readonly login: string; readonly type: string } | null;
type Through = { readonly id?: number | undefined } | null | undefined;

/** An account that was deleted is GitHub's own ghost, which may nothing. */
function person(appId: number, account: Account | undefined, through: Through): Person {
  const login = account?.login ?? "ghost";
  if (through?.id === appId) return { login, kind: "SELF" };
  return { login, kind: account?.type === "Bot" ? "BOT" : "USER" };
}

type IssueComment = Awaited<ReturnType<typeof getComment>>["data"];

const getComment = (ask: Ask, asked: { owner: string; repo: string; comment_id: number }) =>
  ask("GET /repos/{owner}/{repo}/issues/comments/{comment_id}", asked);

const commentOf = ({ appId }: Place, one: IssueComment): Comment => ({
  id: Number(one.id),
  prNumber: Number(/\/(\d+)$/u.exec(one.issue_url)?.[1] ?? 0),
  body: one.body ?? "",
  author: person(appId, one.user, one.performed_via_github_app),
  at: at(one.created_at),
  changedAt: at(one.updated_at),
});

export async function readComment(place: Place, id: number): Promise<Comment | "NOT_FOUND"> {
  const found = await unless([404, 410], () => getComment(place.ask, { ...place.at, comment_id: id }));
  if (found !== undefined) return commentOf(place, found.data);
  await requireRepository(place);
  return "NOT_FOUND";
}

/** Those of issues come along, and are left out. */
export async function readCommentsSince(place: Place, since: EpochMs): ReturnType<People["commentsSince"]> {
  const comments: Comment[] = [];
  let until: EpochMs | null = null;
  for (let page = 1; page <= PAGES_MAX; page += 1) {
    const { data } = await place.spare("GET /repos/{owner}/{repo}/issues/comments", {
      ...place.at,
      sort: "updated",
      direction: "asc",
      since: toRfc3339(epochMs(since - (since % SECOND_MS))),
      per_page: PAGE,
      page,
    });
    comments.push(...data.filter((one) => one.html_url.includes("/pull/")).map((one) => commentOf(place, one)));
    const last = data.at(-1);
    if (last !== undefined) until = at(last.updated_at);
    if (data.length < PAGE) return { comments, until, isAll: true };
  }
  return { comments, until, isAll: false };
}

export async function readPage(place: Place, prNumber: number): Promise<Pull | "NOT_FOUND"> {
  const pull = await readPull(place, prNumber);
  if (pull === undefined) {
    await requireRepository(place);
    return "NOT_FOUND";
  }
  const state = pull.merged ? "MERGED" : pull.state === "open" ? "OPEN" : "CLOSED";
  return { ...aboutOf(pull), state };
}

type Told = {
  readonly number: number;
  readonly base: Ends["base"] & { readonly ref: string };
  readonly head: Ends["head"] & { readonly sha: string };
  readonly user: { readonly login: string } | null;
  readonly labels: readonly { readonly name: string }[];
  readonly updated_at: string;
};

const aboutOf = ({ number, base, head, user, labels, updated_at: changed }: Told): Omit<Pull, "state"> => ({
  number,
  base: base.ref,
  headSha: commitSha(head.sha),
  fromFork: isFromFork({ base, head }),
  author: user?.login ?? "ghost",
  labels: labels.map((one) => one.name),
  changedAt: at(changed),
});

export async function readPullsSince({ spare, at: where }: Place, since: EpochMs): ReturnType<People["pullsSince"]> {
  const pulls: Pull[] = [];
  for (let page = 1; page <= PULL_PAGES_MAX; page += 1) {
    const { data } = await spare("GET /repos/{owner}/{repo}/pulls", {
      ...where,
      state: "open",
      sort: "updated",
      direction: "desc",
      per_page: PAGE,
      page,
    });
    for (const one of data) {
      if (at(one.updated_at) < since) return { pulls, isAll: true };
      pulls.push({ ...aboutOf(one), state: "OPEN" });
    }
    if (data.length < PAGE) return { pulls, isAll: true };
  }
  return { pulls, isAll: false };
}

const LAST = /[?&]page=(?<page>\d+)[^>]*>; rel="last"/u;

/** Oldest first, in pages: the last one is looked at first. */
export async function readLabelled(place: Place, prNumber: number, label: string): Promise<Labelled | null> {
  const events = (page: number) =>
    place.ask("GET /repos/{owner}/{repo}/issues/{issue_number}/events", {
      ...place.at,
      issue_number: prNumber,
      per_page: PAGE,
      page,
    });
  const first = await events(1);
  const last = Number(LAST.exec(first.headers.link ?? "")?.groups?.["page"] ?? 1);
  for (let page = last; page >= 1 && page > last - EVENT_PAGES_MAX; page -= 1) {
    const { data } = page === 1 ? first : await events(page);
    const found = data.flatMap((one) => labelling(place.appId, one, label) ?? []).sort((a, b) => b.id - a.id);
    if (found[0] !== undefined) return found[0];
  }
  return null;
}

type IssueEvent = {
  readonly id: number;
  readonly event: string;
  readonly actor: Account;
  readonly created_at: string;
  readonly label?: { readonly name: string } | undefined;
  readonly performed_via_github_app?: Through;
};

function labelling(appId: number, one: IssueEvent, label: string): Labelled | undefined {
  if (one.event !== "labeled" && one.event !== "unlabeled") return undefined;
  if (one.label?.name.toLowerCase() !== label.toLowerCase()) return undefined;
  const by = person(appId, one.actor, one.performed_via_github_app);
  return { id: one.id, isOn: one.event === "labeled", by, at: at(one.created_at) };
}

/**
 * `permission` is one of four older words, whatever roles an organization made up: who may maintain is told from who may
 * write by the role, or where a server does not name it, by the account's own rights.
 */
export async function readRight(place: Place, login: string): Promise<Right> {
  const found = await unless([404], () =>
    place.ask("GET /repos/{owner}/{repo}/collaborators/{username}/permission", { ...place.at, username: login }),
  );
  if (found === undefined) {
    await requireRepository(place);
    return "NONE";
  }
  const { permission, role_name: role, user } = found.data;
  if (permission === "admin") return "MAINTAIN";
  if (permission === "write") return role === "maintain" || user?.permissions?.maintain === true ? "MAINTAIN" : "WRITE";
  return permission === "read" ? "READ" : "NONE";
}

export async function refuse({ spare, at: where }: Place, comment: number): Promise<void> {
  const asked = { ...where, comment_id: comment, content: "confused" } as const;
  await unless([404, 410, 422], () =>
    spare("POST /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions", asked),
  );
}
