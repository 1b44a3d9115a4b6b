/** Those who should not get in: another organization, somebody who may only read, somebody with no good token. */
import type { RouteId } from "../../../shared/api/routes.ts";
import type { Random } from "../../crash/random.ts";
import type { Book } from "../judges/book.ts";
import { LOST } from "../machine/gateway.ts";
import type { Caller } from "./caller.ts";
import type { Ref } from "./clients.ts";

export type Strangers = { readonly foreigner: Caller; readonly reader: Caller; readonly nobody: Caller };

const READS = ["get-queue", "explain-pull-request", "get-submitted-pull-request"] as const;
const WRITES = ["submit-pull-request", "cancel-pull-request", "update-queue", "restart-tests-on-pull-request"] as const;

/** Each tries something; the answer has to be one of these, or that the service cannot answer now. */
export async function intrude({ foreigner, reader, nobody }: Strangers, ref: Ref, random: Random, book: Book) {
  const body = { ...ref, pr: { number: random.int(1, 9) }, state: "PAUSED" };
  const write = random.pick(WRITES) ?? "update-queue";
  const read = random.pick(READS) ?? "get-queue";
  const attempts: readonly (readonly [Caller, RouteId, number])[] = [
    [foreigner, read, 404],
    [foreigner, write, 404],
    [reader, write, 403],
    [nobody, random.chance(0.5) ? read : write, 401],
  ];
  const [caller, id, expected] = random.pick(attempts) ?? [nobody, read, 401];
  const reply = await caller.once(id, body);
  if (reply !== LOST && reply.status !== expected && reply.status !== 503)
    book.problem(`${id} by a stranger answered ${reply.status} in place of ${expected}`);
}
