/** When pages are to be shown anew: once for each commit of the loop, however much moves in it. */
import { isDeepStrictEqual } from "node:util";
import type { Entry } from "../../engine/types.ts";
import type { EpochMs } from "../../../kernel/time.ts";
import type { Folded, LoadedQueue, PeopleEffect, QueueApp } from "../ports.ts";

export type Show = Extract<PeopleEffect, { type: "show" }>;

/** Whoever shows them looks at what is true by then. */
export function showing(app: QueueApp, queue: LoadedQueue, { decision }: Folded): readonly PeopleEffect[] {
  const { record, version, state } = queue;
  if (!app.hasPages(record.key.repo.host)) return [];
  const unready = [...decision.state.entries.values()].filter((entry) =>
    lacksOther(state.entries.get(entry.id), entry),
  );
  const prNumbers = [...new Set([...decision.moves, ...unready].map((one) => one.prNumber))];
  return prNumbers.length === 0 ? [] : [showOf(`${version + 1}`, prNumbers, app.clock())];
}

/** Who is not ready stays so without a move, and may lack something else meanwhile, or have another head. */
const lacksOther = (before: Entry | undefined, { state, pr, trouble, targets }: Entry): boolean =>
  state === "NOT_READY" &&
  before?.state === "NOT_READY" &&
  !(
    isDeepStrictEqual({ ...pr, judgedOn: null, own: null }, { ...before.pr, judgedOn: null, own: null }) &&
    trouble?.kind === before.trouble?.kind &&
    isDeepStrictEqual(targets, before.targets)
  );

const SHOWS = "show:";
export const showOf = (name: string, prNumbers: readonly number[], at: EpochMs): Show => ({
  type: "show",
  key: `${SHOWS}${name}`,
  prNumbers,
  at,
});
export const isShow = (effectKey: string): boolean => effectKey.startsWith(SHOWS);
