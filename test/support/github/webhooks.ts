/** Signed webhooks: kept as deliveries, brought in order unless told otherwise, and again when asked. */
import { createHmac, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { FaultPlan } from "./faults.ts";
import { aboutWebhook } from "./shapes/published.ts";
import { EVENTS, type EventName } from "./shapes/used.ts";

export type Delivery = {
  readonly id: number;
  /** The `X-GitHub-Delivery` header; the same when it is delivered again. */
  readonly guid: string;
  readonly event: string;
  readonly action: string | null;
  readonly installationId: number | null;
  readonly repositoryId: number | null;
  readonly payload: object;
  readonly redelivery: boolean;
  readonly at: number;
  /** What the receiver answered; 0 when nothing could be brought. */
  statusCode: number;
  /** OK, LOST, PENDING, NOBODY, or in words what went wrong. */
  status: string;
  durationMs: number;
};

export type Webhooks = {
  readonly deliveries: Delivery[];
  to: { readonly url: string; readonly secret: string } | null;
  readonly send: (
    news: Omit<Delivery, "id" | "guid" | "redelivery" | "at" | "statusCode" | "status" | "durationMs">,
  ) => void;
  readonly redeliver: (id: number) => Promise<Delivery>;
  /** Everything sent so far was brought, lost, or refused. */
  readonly settled: () => Promise<void>;
};

type Ports = {
  readonly faults: FaultPlan;
  readonly now: () => number;
  readonly nextId: () => number;
  readonly lies: string[];
};

const TIMEOUT_MS = 10_000;
const NAMES: ReadonlySet<string> = new Set(EVENTS);

export const sign = (secret: string, body: string): string =>
  `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;

export function createWebhooks({ faults, now, nextId, lies }: Ports): Webhooks {
  let line: Promise<unknown> = Promise.resolve();
  let held: Delivery | undefined;

  const bring = async (delivery: Delivery): Promise<void> => {
    const { to } = webhooks;
    if (to === null) return void (delivery.status = "NOBODY");
    const body = JSON.stringify(delivery.payload);
    await sleep(faults.webhookDelayMs());
    const began = performance.now();
    const answer = await post(to, delivery, body);
    delivery.durationMs = performance.now() - began;
    delivery.statusCode = answer.status;
    delivery.status = answer.text;
  };
  const inLine = (delivery: Delivery): Promise<void> => {
    const brought = line.then(() => bring(delivery));
    line = brought.catch(() => {});
    return brought;
  };
  const disorderly = (delivery: Delivery): void => {
    const fault = faults.ofWebhook();
    if (fault === "LOSE") delivery.status = "LOST";
    else if (fault === "REORDER" && held === undefined) {
      held = delivery;
      // It comes late, and not never.
      setTimeout(releaseHeld, 500).unref();
    } else {
      void inLine(delivery);
      if (fault === "DOUBLE") void inLine(delivery);
      releaseHeld();
    }
  };
  const releaseHeld = (): void => {
    const late = held;
    held = undefined;
    if (late !== undefined) void inLine(late);
  };
  const kept = (news: Parameters<Webhooks["send"]>[0], guid: string, redelivery: boolean): Delivery => {
    const delivery = {
      ...news,
      id: nextId(),
      guid,
      redelivery,
      at: now(),
      statusCode: 0,
      status: "PENDING",
      durationMs: 0,
    };
    webhooks.deliveries.push(delivery);
    return delivery;
  };

  const webhooks: Webhooks = {
    deliveries: [],
    to: null,
    send: (news) => {
      lies.push(...aboutWebhook(nameOf(news.event, news.action), news.payload));
      disorderly(kept(news, randomUUID(), false));
    },
    redeliver: async (id) => {
      const first = webhooks.deliveries.find((one) => one.id === id);
      if (first === undefined) throw new Error(`there is no delivery ${id}`);
      const { event, action, installationId, repositoryId, payload } = first;
      const again = kept({ event, action, installationId, repositoryId, payload }, first.guid, true);
      await inLine(again);
      return again;
    },
    settled: async () => {
      releaseHeld();
      let seen: unknown;
      while (seen !== line) {
        seen = line;
        await line;
      }
    },
  };
  return webhooks;
}

function nameOf(event: string, action: string | null): EventName {
  const name = action === null ? event : `${event}.${action}`;
  if (!NAMES.has(name)) throw new Error(`${name} is not among the webhooks whose shape is held`);
  return name as EventName;
}

async function post(
  to: { readonly url: string; readonly secret: string },
  delivery: Delivery,
  body: string,
): Promise<{ readonly status: number; readonly text: string }> {
  try {
    const answer = await fetch(to.url, {
      method: "POST",
      body,
      signal: AbortSignal.timeout(TIMEOUT_MS),
      headers: {
        "content-type": "application/json",
        "user-agent": "GitHub-Hookshot/044aadd",
        "x-github-delivery": delivery.guid,
        "x-github-event": delivery.event,
        "x-github-hook-id": "1",
        "x-github-hook-installation-target-type": "integration",
        "x-hub-signature-256": sign(to.secret, body),
      },
    });
    await answer.arrayBuffer();
    return { status: answer.status, text: answer.ok ? "OK" : answer.statusText };
  } catch (error) {
    return {
      status: 0,
      text: error instanceof Error && error.name === "TimeoutError" ? "timed out" : "failed to connect",
    };
  }
}
