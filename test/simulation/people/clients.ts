/** What those who work with the queue do: submit, ask, cancel, restart. */
import type { Random } from "../../crash/random.ts";
import { headOf } from "../host/content.ts";
import { changeOf } from "../host/pull-requests.ts";
import { LOST } from "../machine/gateway.ts";
import type { HostWorld } from "../host/world.ts";
import type { Caller } from "./caller.ts";

export type Ref = { readonly repo: object; readonly targetBranch: string };

export type ClientParts = {
  readonly caller: Caller;
  readonly random: Random;
  readonly host: HostWorld;
  readonly ref: Ref;
  /** Numbers of pull requests that there are. */
  readonly numbers: () => readonly number[];
};

/** Mostly the newest ones. */
const recent = ({ numbers, random }: ClientParts): number => numbers().at(-1 - random.int(0, 12)) ?? 1;

export async function submit(parts: ClientParts, number: number): Promise<void> {
  const { caller, random, ref } = parts;
  const dice = random.next();
  const priority = dice < 0.06 ? "urgent" : dice < 0.3 ? random.int(1, 255) : undefined;
  const body = { ...ref, pr: { number }, ...(priority === undefined ? {} : { priority }) };
  await caller.send("submit-pull-request", random.chance(0.1) ? { ...body, noBatch: true } : body);
}

export async function setTargets(parts: ClientParts, number: number): Promise<void> {
  const { caller, random, ref, host } = parts;
  const pr = host.prs.get(number);
  if (pr === undefined) return;
  // Who claims less than is true lies, and is promised nothing.
  const some = [...(host.truth.areasOf(changeOf(pr)) ?? []), ...(random.chance(0.2) ? ["more"] : [])];
  const impactedTargets = random.chance(0.08) ? "ALL" : some;
  const sha = { sha: headOf(changeOf(pr)) };
  await caller.send("set-impacted-targets", { ...ref, pr: { number, ...sha }, impactedTargets });
}

/** Something that is done to what is there, or asked about it; now and then by several people at the same moment. */
export async function act(parts: ClientParts): Promise<void> {
  const number = recent(parts);
  const times = parts.random.chance(0.15) ? parts.random.int(2, 4) : 1;
  await Promise.all(Array.from({ length: times }, () => actOnce(parts, number)));
}

async function actOnce(parts: ClientParts, number: number): Promise<void> {
  const { caller, random, ref } = parts;
  const one = { ...ref, pr: { number } };
  const dice = random.next();
  if (dice < 0.2) await submit(parts, number);
  else if (dice < 0.28) await caller.send("cancel-pull-request", one);
  else if (dice < 0.36) await caller.send("restart-tests-on-pull-request", one);
  else if (dice < 0.42) await setTargets(parts, number);
  else if (dice < 0.6) await caller.once("explain-pull-request", one);
  else if (dice < 0.7) await caller.once("get-submitted-pull-request", { ...one, includeTimeline: random.chance(0.5) });
  else if (dice < 0.76) await caller.once("get-queue", ref);
  else if (dice < 0.82) await caller.once("get-submitted-pull-requests", { ...ref, prs: [{ number }, { number: 1 }] });
  else if (dice < 0.88) await caller.once("get-merge-queue-testing-details", random.chance(0.5) ? one : ref);
  else if (dice < 0.92) await caller.once("list-queues", {});
  else if (dice < 0.96) await caller.once("get-merge-queue-metrics", {});
  else await pageThrough(parts);
}

async function pageThrough({ caller, ref, random }: ClientParts): Promise<void> {
  let cursor: string | undefined;
  for (let page = 0; page < 5; page += 1) {
    const body = { ...ref, take: random.int(1, 20), ...(cursor === undefined ? {} : { cursor }) };
    const reply = await caller.once("list-pull-requests", body);
    if (reply === LOST || reply.status !== 200) return;
    cursor = (reply.body as { nextCursor?: string }).nextCursor;
    if (cursor === undefined) return;
  }
}
