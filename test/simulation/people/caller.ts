/** Somebody with a token, who sends requests and sometimes sends them again. */
import type { Random } from "../../crash/random.ts";
import type { Promises } from "../judges/promises.ts";
import { type Gateway, LOST, type Reply, type Sent } from "../machine/gateway.ts";
import type { Scheduler } from "../machine/scheduler.ts";
import { virtualUuid } from "../machine/virtual.ts";

export type CallerParts = {
  readonly gateway: Gateway;
  readonly scheduler: Scheduler;
  readonly promises: Promises;
  readonly random: Random;
  readonly token: string;
};

type Body = Sent["body"];
const TRIES_MAX = 40;

/** "Try again" is no answer to what was asked. */
const isFinal = (reply: Reply | typeof LOST): reply is Reply =>
  reply !== LOST &&
  reply.status < 500 &&
  reply.status !== 429 &&
  !JSON.stringify(reply.body).includes('"IDEMPOTENCY_IN_PROGRESS"');

export class Caller {
  private readonly parts: CallerParts;

  constructor(parts: CallerParts) {
    this.parts = parts;
  }

  async once(id: Sent["id"], body: Body, idempotencyKey?: string): Promise<Reply | typeof LOST> {
    const { gateway, scheduler, promises, token } = this.parts;
    const since = scheduler.now();
    const sent: Sent = { id, token, body, ...(idempotencyKey === undefined ? {} : { idempotencyKey }) };
    promises.asked(sent);
    const reply = await gateway.send(sent);
    promises.heard(sent, since, reply);
    return reply;
  }

  /** Until there is an answer: the same request under the same key, now and then twice at a time. */
  async sure(id: Sent["id"], body: Body): Promise<Reply | undefined> {
    const { scheduler, random } = this.parts;
    const key = virtualUuid(random.next);
    for (let attempt = 1; attempt <= TRIES_MAX; attempt += 1) {
      const twin = random.chance(0.1) ? this.once(id, body, key) : undefined;
      const reply = await this.once(id, body, key);
      await twin;
      if (isFinal(reply)) return reply;
      await scheduler.sleep(random.int(200, 2_000) * Math.min(attempt, 10));
    }
    return undefined;
  }

  /** As careful as people are. */
  send(id: Sent["id"], body: Body): Promise<Reply | typeof LOST | undefined> {
    return this.parts.random.chance(0.5) ? this.sure(id, body) : this.once(id, body);
  }
}
