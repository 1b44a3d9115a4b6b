import * as z from "zod";
import { metricsQuery } from "../schemas/metrics-query.ts";
import { noFields, openApiDocument, status } from "../schemas/status.ts";
import { route } from "./route.ts";

const reads = { auth: "token", scope: "read", writes: false, tableAccess: "read", media: "application/json" } as const;
const open = {
  method: "GET",
  tag: "Service",
  auth: "none",
  scope: null,
  writes: false,
  tableAccess: "none",
  media: "application/json",
} as const;

export const otherRoutes = {
  "get-merge-queue-metrics": route("get-merge-queue-metrics", {
    ...reads,
    method: "GET",
    tag: "Metrics",
    path: "/getMergeQueueMetrics",
    summary: "Get the merge queues' metrics for Prometheus",
    description: "Of all the organization's queues, or of one repository's. A repository without queues has none.",
    request: metricsQuery,
    reply: z.string(),
    media: "text/plain; version=0.0.4; charset=utf-8",
    errors: [],
  }),
  "receive-github-webhook": route("receive-github-webhook", {
    ...open,
    method: "POST",
    path: "/webhooks/github",
    summary: "What GitHub tells of its own accord",
    description:
      "For GitHub alone: signed with the App's webhook secret (`x-hub-signature-256`, over the bytes as they are). Each " +
      "delivery counts once, by its `x-github-delivery`. IGNORED: it is about nothing that is queued here.",
    body: "signed",
    tableAccess: "write",
    request: noFields,
    reply: z.object({ delivery: z.enum(["TAKEN", "SEEN", "IGNORED"]) }),
    errors: ["UNAUTHENTICATED"],
  }),
  "get-status": route("get-status", {
    ...open,
    path: "/status",
    summary: "Whether the service answers",
    description: "Needs no token and touches nothing behind it.",
    request: noFields,
    reply: status,
    errors: [],
  }),
  "get-open-api": route("get-open-api", {
    ...open,
    path: "/openapi.json",
    summary: "This document",
    description: "The OpenAPI 3.1 document of the version that is running.",
    request: noFields,
    reply: openApiDocument,
    errors: [],
  }),
} as const;
