/** When all has calmed down and the queue is empty: what must be stored, and what must not be left. */
import { ScanCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import { isLegal } from "../../../shared/queue/engine/transitions.ts";
import type { Entry, EntryState, Move, Totals } from "../../../shared/queue/engine/types.ts";
import type { Table } from "../../../shared/table/client.ts";
import { fromEndedItem } from "../../../shared/table/entry-items.ts";
import { fromMoveItem } from "../../../shared/table/run-items.ts";
import type { HostWorld } from "../host/world.ts";
import { headsIn, headOf } from "../host/content.ts";
import type { Book } from "./book.ts";
import type { CommitJudge } from "./commits.ts";

type Item = Record<string, unknown>;
const named = z.object({ entity: z.string(), sk: z.string() });

async function itemsOf({ client, name }: Table): Promise<readonly Item[]> {
  const items: Item[] = [];
  let from: Item | undefined;
  do {
    const page = await client.send(new ScanCommand({ TableName: name, ExclusiveStartKey: from }));
    items.push(...(page.Items ?? []));
    from = page.LastEvaluatedKey;
  } while (from !== undefined);
  return items;
}

/** Of a queue in which nobody is, nothing that moves is left. */
const PASSING = new Set(["ENTRY", "RUN", "INBOX", "EFFECT"]);

export class EndJudge {
  private readonly book: Book;
  private readonly commits: CommitJudge;
  private readonly host: HostWorld;

  constructor(book: Book, commits: CommitJudge, host: HostWorld) {
    this.book = book;
    this.commits = commits;
    this.host = host;
  }

  async judge(table: Table): Promise<void> {
    const items = await itemsOf(table);
    const of = (entity: string): readonly Item[] => items.filter((item) => named.parse(item).entity === entity);
    for (const item of items) {
      const { entity, sk } = named.parse(item);
      if (PASSING.has(entity)) this.book.problem(`${entity} ${sk} is left in the table`);
    }
    this.history(of("ENDED_ENTRY").filter((item) => named.parse(item).sk !== "ENDED"));
    this.timelines(of("MOVE").map(fromMoveItem));
    this.totals();
    this.landed();
    for (const run of this.host.runs.values())
      if (!run.isClosed) this.book.problem(`the branch of ${run.name} was never removed`);
  }

  private history(items: readonly Item[]): void {
    const stored = items.map(fromEndedItem);
    const seen = new Set<string>();
    for (const { id, state, prNumber } of stored) {
      if (seen.has(id)) this.book.problem(`#${prNumber} (${id}) stands in the history twice`);
      seen.add(id);
      if (this.commits.ended.get(id)?.state !== state) this.book.problem(`the history says of ${id}: ${state}`);
    }
    for (const id of this.commits.ended.keys()) if (!seen.has(id)) this.book.problem(`${id} is not in the history`);
  }

  /** Complete, in order, each move legal, from the beginning to the end. */
  private timelines(stored: readonly Move[]): void {
    const byEntry = Map.groupBy(stored, (move) => move.entry);
    for (const entry of this.commits.ended.values()) {
      const moves = (byEntry.get(entry.id) ?? []).toSorted((a, b) => a.number - b.number);
      const wrong = (what: string): void => this.book.problem(`timeline of #${entry.prNumber} (${entry.id}): ${what}`);
      let at: EntryState | null = null;
      for (const [number, move] of moves.entries()) {
        if (move.number !== number) wrong(`move ${number} is missing`);
        if (move.from !== at) wrong(`goes on from ${move.from ?? "nothing"} after ${at ?? "nothing"}`);
        if (!isLegal(move)) wrong(`${move.from ?? "nothing"} to ${move.to} for ${move.reason}`);
        if (move.at < (moves[number - 1]?.at ?? 0)) wrong(`move ${number} lies before the one before it`);
        at = move.to;
      }
      if (at !== entry.state) wrong(`ends ${at ?? "nowhere"}, and the submission ended ${entry.state}`);
      if (moves.length !== (this.commits.moves.get(entry.id)?.length ?? 0)) wrong("is not what was decided");
    }
  }

  private totals(): void {
    const totals = this.commits.last?.state.totals;
    if (totals === undefined) return;
    const ended = [...this.commits.ended.values()];
    const endedAs = (state: EntryState): number => ended.filter((entry) => entry.state === state).length;
    const runs = this.commits.runs.size;
    const expected: Partial<Totals> = {
      merged: endedAs("MERGED"),
      failed: endedAs("FAILED"),
      cancelled: endedAs("CANCELLED"),
      runsStarted: runs,
      landings: this.host.target.movements.filter((one) => one.landing !== null).length,
    };
    for (const [name, count] of Object.entries(expected)) {
      const counted = Reflect.get(totals, name);
      if (counted !== count) this.book.problem(`the queue counts ${counted} ${name}, and there were ${count}`);
    }
    const over = totals.runsPassed + totals.runsFailed + totals.runsCancelled;
    if (over !== runs) this.book.problem(`${over} runs are counted by their end, and there were ${runs}`);
  }

  /** Who is MERGED is on the target once, and who landed is MERGED. */
  private landed(): void {
    const { movements } = this.host.target;
    const landings = movements.flatMap((one) => one.landing?.changes ?? []);
    const times = new Map<string, number>();
    for (const { entry } of landings) times.set(entry, (times.get(entry) ?? 0) + 1);
    for (const { entry, prNumber } of landings) {
      const state = this.commits.ended.get(entry)?.state;
      if (state !== "MERGED") this.book.problem(`#${prNumber} (${entry}) landed, and ended ${state}`);
      if (times.get(entry) !== 1) this.book.problem(`#${prNumber} (${entry}) landed ${times.get(entry)} times`);
    }
    for (const entry of this.commits.ended.values())
      if (entry.state === "MERGED" && !times.has(entry.id) && !this.isMergedByHand(entry))
        this.book.problem(`#${entry.prNumber} (${entry.id}) is MERGED, and nothing of it landed`);
  }

  private isMergedByHand({ prNumber, headSha, conclusion }: Entry): boolean {
    const pr = this.host.prs.get(prNumber);
    if (conclusion?.reason !== "MERGED_BY_HAND" || pr === undefined) return false;
    // Merged before the host could be asked which head it has.
    if (headSha === null) return pr.state === "MERGED";
    // One that is not admitted follows its pull request: what was merged may be a head that nobody was told of before.
    const heads = [headSha, headOf(`${prNumber}@${pr.version}`)];
    const reached = this.host.target.movements.some(({ after }) => headsIn(after).some((head) => heads.includes(head)));
    return reached || (pr.state === "MERGED" && heads[1] === headSha);
  }
}
