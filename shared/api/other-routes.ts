import * as z from "zod";
import { metricsQuery } from "../schemas/metrics-query.ts";
import { noFields, openApiDocument, status } from "../schemas/status.ts";
import * as health from "../schemas/test-health.ts";
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
  "list-failing-tests": route("list-failing-tests", {
    ...reads,
    method: "POST",
    tag: "Test health",
    path: "/flaky-tests/list-failing-tests",
    summary: "List the tests that failed in a window of time",
    description: "At most seven days; ordered by the latest failure in it, newest first.",
    request: health.listFailingTests,
    reply: health.failingTests,
    errors: ["ORGANIZATION_NOT_FOUND", "REPOSITORY_NOT_FOUND"],
  }),
  "list-unhealthy-tests": route("list-unhealthy-tests", {
    ...reads,
    method: "POST",
    tag: "Test health",
    path: "/flaky-tests/list-unhealthy-tests",
    summary: "List the tests that are flaky or broken",
    description: "Ordered by the time of their status, newest first.",
    request: health.listUnhealthyTests,
    reply: health.unhealthyTests,
    errors: ["ORGANIZATION_NOT_FOUND", "REPOSITORY_NOT_FOUND"],
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
