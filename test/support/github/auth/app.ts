/** The App: its key as GitHub hands it out, and what it asks for. */
import { generateKeyPairSync } from "node:crypto";
import type { App } from "../world.ts";

let pair: { readonly privateKey: string; readonly publicKey: string } | undefined;

/** Making a key takes long; one is enough for all twins of a process. */
function keys(): { readonly privateKey: string; readonly publicKey: string } {
  pair ??= generateKeyPairSync("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs1", format: "pem" },
  });
  return pair;
}

/** All that the twin speaks of; a test that wants to see what is missing takes some away. */
const PERMISSIONS = {
  actions: "write",
  administration: "read",
  checks: "write",
  contents: "write",
  issues: "write",
  metadata: "read",
  pull_requests: "write",
  statuses: "write",
  workflows: "write",
} as const;

export const createApp = (): App => ({
  appId: 1_234_567,
  slug: "mainline-twin",
  name: "Mainline twin",
  ...keys(),
  webhookSecret: "twin's secret",
  owner: { id: 9_001, login: "mainline-makers", type: "Organization" },
  permissions: PERMISSIONS,
  events: [
    "pull_request",
    "push",
    "check_run",
    "check_suite",
    "status",
    "pull_request_review",
    "issue_comment",
    "repository",
  ],
});
