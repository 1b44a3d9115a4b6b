/** What GitHub shows of pull requests, and who is at it. All of it ends by itself. */
import { randomUUID } from "node:crypto";
import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import type { PageHeld, PageOf, PageShown, ShownStore } from "../code-host/github/show-port.ts";
import type { OrgSlug } from "../kernel/ids.ts";
import { type Clock, DAY_MS, later, MINUTE_MS, SECOND_MS } from "../kernel/time.ts";
import type { Table } from "./client.ts";
import { unlessRefused } from "./conditional.ts";
import { keys } from "./keys.ts";
import { time } from "./shapes.ts";
import { versioned } from "./versions.ts";

const refused = z.object({
  comment: z.string().optional(),
  answer: z.string().optional(),
  check: z.string().optional(),
  labels: z.string().optional(),
});

const refusedAt = z.object({
  comment: time.optional(),
  answer: time.optional(),
  check: time.optional(),
  labels: time.optional(),
});

const shape = versioned(
  z.object({
    entity: z.literal("GITHUB_SHOWN"),
    schema: z.literal(1),
    /** Absent until something was shown. */
    shown: z
      .object({
        comment: z
          .union([z.object({ id: z.int(), digest: z.string(), again: z.boolean() }), z.literal("UNWANTED")])
          .nullable(),
        check: z.object({ id: z.int(), headSha: z.string(), digest: z.string(), open: z.boolean() }).nullable(),
        labels: z.string().nullable(),
        answer: z.string().nullable(),
        refused,
        refusedAt: refusedAt.optional(),
      })
      .optional(),
  }),
);

const NOTHING: PageShown = { comment: null, check: null, labels: null, answer: null, refused: {} };

/** Whoever died while at it keeps others waiting for so long. */
const HELD_MS = MINUTE_MS;
/** A pull request that nothing happened to for longer, and that moves again, is looked at as if for the first time. */
const KEPT_MS = 120 * DAY_MS;

export function githubShown(table: Table, org: OrgSlug, clock: Clock): ShownStore {
  return {
    hold: async (page) => {
      const owner = randomUUID();
      const item =
        (await take(table, org, page, owner, clock)) ??
        // Who was at it has gone in between where nobody can be told any more.
        ((await tell(table, org, page, clock)) ? undefined : await take(table, org, page, owner, clock));
      return item === undefined ? undefined : held(table, org, page, owner, clock, shape.parse(item).shown ?? NOTHING);
    },
  };
}

async function take(table: Table, org: OrgSlug, { repo, prNumber, branch }: PageOf, owner: string, clock: Clock) {
  const now = clock();
  let item: Record<string, unknown> | undefined;
  const free = await unlessRefused(async () => {
    const answer = await table.client.send(
      new UpdateCommand({
        TableName: table.name,
        Key: keys.shown({ org, repo, branch }, prNumber),
        UpdateExpression:
          "SET entity = :entity, #schema = if_not_exists(#schema, :one), heldBy = :owner, heldUntil = :until, expiresAtSeconds = :end REMOVE wanted",
        // The last alternative: an attempt whose answer was lost is repeated, and must not be refused by its own success.
        ConditionExpression: "attribute_not_exists(heldUntil) OR heldUntil <= :now OR heldBy = :owner",
        ExpressionAttributeNames: { "#schema": "schema" },
        ExpressionAttributeValues: {
          ":entity": "GITHUB_SHOWN",
          ":one": 1,
          ":owner": owner,
          ":until": later(now, HELD_MS),
          ":now": now,
          ":end": Math.floor(later(now, KEPT_MS) / SECOND_MS),
        },
        ReturnValues: "ALL_NEW",
      }),
    );
    item = answer.Attributes;
  });
  return free ? item : undefined;
}

/** That somebody else wanted to be at it; false where nobody is at it any more. */
const tell = (table: Table, org: OrgSlug, { repo, prNumber, branch }: PageOf, clock: Clock): Promise<boolean> =>
  unlessRefused(() =>
    table.client.send(
      new UpdateCommand({
        TableName: table.name,
        Key: keys.shown({ org, repo, branch }, prNumber),
        UpdateExpression: "SET wanted = :yes",
        ConditionExpression: "heldUntil > :now",
        ExpressionAttributeValues: { ":yes": true, ":now": clock() },
      }),
    ),
  );

function held(table: Table, org: OrgSlug, page: PageOf, owner: string, clock: Clock, shown: PageShown): PageHeld {
  const { repo, prNumber, branch } = page;
  let wanted = false;
  const update = (set: string, values: Record<string, unknown>): Promise<boolean> =>
    unlessRefused(async () => {
      const { Attributes } = await table.client.send(
        new UpdateCommand({
          TableName: table.name,
          Key: keys.shown({ org, repo, branch }, prNumber),
          UpdateExpression: set,
          ConditionExpression: "heldBy = :owner",
          ExpressionAttributeValues: { ...values, ":owner": owner },
          ReturnValues: "ALL_NEW",
        }),
      );
      wanted = Attributes?.["wanted"] === true;
    });
  return {
    shown,
    keep: (next) =>
      update("SET shown = :shown, heldUntil = :until", { ":shown": next, ":until": later(clock(), HELD_MS) }),
    free: async (afterMs = 0) =>
      (await update("SET heldUntil = :until", { ":until": later(clock(), afterMs) })) && wanted,
  };
}
