import * as queues from "../schemas/queue.ts";
import { queueRef } from "../schemas/repo.ts";
import { route } from "./route.ts";

const reads = {
  method: "POST",
  tag: "Queues",
  auth: "token",
  scope: "read",
  writes: false,
  tableAccess: "read",
  media: "application/json",
} as const;
const administers = { ...reads, scope: "admin", writes: true, tableAccess: "write" } as const;

export const queueRoutes = {
  "create-queue": route("create-queue", {
    ...administers,
    path: "/createQueue",
    summary: "Create a merge queue",
    description: "One per repository and target branch. Settings that are not sent have their defaults.",
    request: queues.createQueue,
    reply: queues.queue,
    errors: ["QUEUE_ALREADY_EXISTS"],
  }),
  "get-queue": route("get-queue", {
    ...reads,
    path: "/getQueue",
    summary: "Get a merge queue with everything in it",
    description: "All settings, and the queued pull requests in the order in which the queue will consider them.",
    request: queueRef,
    reply: queues.queueWithPullRequests,
    errors: ["QUEUE_NOT_FOUND"],
  }),
  "update-queue": route("update-queue", {
    ...administers,
    path: "/updateQueue",
    summary: "Change a merge queue",
    description:
      "Any subset of the settings; pause, drain or resume by `state`; lift a hold of the service by `clearHold`.",
    request: queues.updateQueue,
    reply: queues.queue,
    errors: ["QUEUE_NOT_FOUND", "MODE_CHANGE_IN_PROGRESS"],
  }),
  "delete-queue": route("delete-queue", {
    ...administers,
    path: "/deleteQueue",
    summary: "Delete a merge queue",
    description: "Only when no pull request is in it.",
    request: queueRef,
    reply: queues.queue,
    errors: ["QUEUE_NOT_FOUND", "QUEUE_NOT_EMPTY"],
  }),
  "list-queues": route("list-queues", {
    ...reads,
    path: "/listQueues",
    summary: "List the organization's merge queues",
    description: "With `repo`, those of one repository.",
    request: queues.listQueues,
    reply: queues.queueList,
    errors: [],
  }),
} as const;
