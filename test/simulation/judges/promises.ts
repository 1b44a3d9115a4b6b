/** What callers were told, and whether it stayed true. */
import * as z from "zod";
import { contractProblems } from "../../support/contract.ts";
import { type Route } from "../../../shared/api/route.ts";
import { routes } from "../../../shared/api/routes.ts";
import type { EpochMs } from "../../../shared/kernel/time.ts";
import type { Entry, Move } from "../../../shared/queue/engine/types.ts";
import { headOf } from "../host/content.ts";
import { FUNCTION_MS_MAX, LOST, type Reply, type Sent } from "../machine/gateway.ts";
import type { Book } from "./book.ts";

export const pullRequestShape = z.object({
  id: z.string(),
  prNumber: z.int(),
  state: z.string(),
  isCurrentlySubmittedToQueue: z.boolean(),
  skipTheLine: z.boolean(),
  conclusion: z.object({ reason: z.string(), message: z.string() }).nullable(),
  timeline: z.array(z.object({ from: z.string().nullable(), to: z.string(), reason: z.string() })).optional(),
});
export type ShownPullRequest = z.infer<typeof pullRequestShape>;

const listShape = z.object({ pullRequests: z.array(pullRequestShape) });
const queueShape = z.object({ enqueuedPullRequests: z.array(pullRequestShape) });
const explanationShape = z.object({ state: z.string(), summary: z.string(), blockers: z.array(z.unknown()) });

const LIVE = new Set(["NOT_READY", "PENDING", "TESTING", "TESTS_PASSED", "PENDING_FAILURE"]);

export class Promises {
  /** Submissions that were acknowledged, by their id. */
  readonly submitted = new Map<string, number>();
  /** When the cancelling of one was acknowledged. */
  readonly cancelled = new Map<string, EpochMs>();
  /** Calls that were meant as one, by what they ask for and the pull request: those under one key are one. */
  private readonly meant = new Map<string, Set<string>>();
  /** Heads whose impacted targets were taken in. */
  private readonly placed = new Set<string>();
  private readonly book: Book;

  constructor(book: Book) {
    this.book = book;
  }

  /** Somebody asks; whether he gets an answer or not. */
  asked(sent: Sent): void {
    const what = `${sent.id} ${numberIn(sent)}`;
    const calls = this.meant.get(what) ?? new Set();
    this.meant.set(what, calls.add(sent.idempotencyKey ?? `call ${calls.size}`));
  }

  /** Looks at every answer that anybody gets. */
  heard(sent: Sent, since: EpochMs, reply: Reply | typeof LOST): void {
    const name = sent.id;
    this.book.count("requests");
    this.book.say(`${name} ${numberIn(sent)}: ${reply === LOST ? "no answer" : answerText(reply)}`);
    if (reply === LOST) return this.book.count("requests without an answer");
    const route: Route = routes[name];
    const headers = new Headers(reply.headers);
    const called = { status: reply.status, headers, body: reply.body };
    for (const what of contractProblems(route.path, called)) this.book.problem(`${name}: ${what}`);
    if (reply.status === 500 && this.book.now() - since < FUNCTION_MS_MAX)
      this.book.problem(`${name} answered 500: ${JSON.stringify(reply.body)}`);
    if (reply.status !== 200) return;
    const isReplay = reply.headers["idempotency-replayed"] === "true";
    for (const shown of shownIn(name, reply.body)) this.shown(shown, since, isReplay);
    this.acknowledged(sent, reply);
    if (name === "explain-pull-request") this.explained(reply);
  }

  hasTargets(change: string): boolean {
    return this.placed.has(headOf(change));
  }

  private acknowledged({ id }: Sent, { body }: Reply): void {
    if (id === "set-impacted-targets") this.placed.add(z.object({ prSha: z.string() }).parse(body).prSha);
    if (id === "submit-pull-request") {
      const { id: entry, prNumber } = pullRequestShape.parse(body);
      this.submitted.set(entry, prNumber);
    }
    if (id === "cancel-pull-request") {
      const { id: entry, state, prNumber } = pullRequestShape.parse(body);
      if (state !== "CANCELLED") this.book.problem(`#${prNumber}: cancelling it answered ${state}`);
      if (!this.cancelled.has(entry)) this.cancelled.set(entry, this.book.now());
    }
  }

  /** Who was told that it is cancelled is never told anything else about that submission. */
  private shown({ id, state, prNumber }: ShownPullRequest, since: EpochMs, isReplay: boolean): void {
    const at = this.cancelled.get(id);
    if (at !== undefined && at < since && state !== "CANCELLED" && !isReplay)
      this.book.problem(`#${prNumber} (${id}) was acknowledged as cancelled, and is shown ${state} afterwards`);
  }

  private explained({ body }: Reply): void {
    const { state, summary, blockers } = explanationShape.parse(body);
    if (summary === "" || (LIVE.has(state) && blockers.length === 0))
      this.book.problem(`an explanation of ${state} says nothing: ${JSON.stringify(body).slice(0, 300)}`);
  }

  /** However often a call is sent under its key, it does what it does once. */
  private happenedOnce(moves: readonly Move[]): void {
    const calls = (what: string): number =>
      [...this.meant].reduce(
        (sum, [name, keys]) => sum + (name === what || (what.endsWith(" ") && name.startsWith(what)) ? keys.size : 0),
        0,
      );
    // All members of a batch start anew with one of them.
    const restarts = new Set(moves.filter((move) => move.reason === "RESTARTED_BY_USER").map((move) => move.at)).size;
    const wished = calls("restart-tests-on-pull-request ");
    if (restarts > wished) this.book.problem(`tests were restarted ${restarts} times for ${wished} wishes`);
    const submissions = Map.groupBy(moves.filter(isSubmission), (move) => move.prNumber);
    for (const [number, { length }] of submissions) {
      const submitted = calls(`submit-pull-request ${number}`);
      if (length > submitted)
        this.book.problem(`#${number} was submitted ${submitted} times, and is there ${length} times`);
    }
  }

  /** When all is over: whatever was acknowledged is there, and came to the end that was promised. */
  kept(ended: ReadonlyMap<string, Entry>, moves: Iterable<readonly Move[]>): void {
    this.happenedOnce([...moves].flat());
    for (const [id, prNumber] of this.submitted)
      if (!ended.has(id)) this.book.problem(`the submission ${id} of #${prNumber} was acknowledged and never ended`);
    for (const id of this.cancelled.keys()) {
      const state = ended.get(id)?.state;
      if (state !== "CANCELLED") this.book.problem(`the cancelling of ${id} was acknowledged; it ended ${state}`);
    }
  }
}

const isSubmission = ({ from }: Move): boolean => from === null;

const numberIn = ({ body }: Sent): string => /"number":(\d+)/u.exec(JSON.stringify(body))?.[1] ?? "";

const answerText = ({ status, body }: Reply): string => {
  const [, code] = /"(?:code|state)":"(\w+)"/u.exec(JSON.stringify(body)) ?? [];
  return `${status} ${code ?? ""}`;
};

const LISTS: readonly Sent["id"][] = ["get-submitted-pull-requests", "list-pull-requests"];

function shownIn(name: Sent["id"], body: unknown): readonly ShownPullRequest[] {
  if (name === "get-submitted-pull-request") return [pullRequestShape.parse(body)];
  if (name === "get-queue") return queueShape.parse(body).enqueuedPullRequests;
  return LISTS.includes(name) ? listShape.parse(body).pullRequests : [];
}
