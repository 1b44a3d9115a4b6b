import * as bundles from "../schemas/test-bundles.ts";
import * as details from "../schemas/test-details.ts";
import * as health from "../schemas/test-health.ts";
import * as uploads from "../schemas/test-uploads.ts";
import { route } from "./route.ts";

const common = { method: "POST", tag: "Test health", auth: "token", media: "application/json" } as const;
const reads = { ...common, scope: "read", writes: false, tableAccess: "read" } as const;
const sends = { ...common, scope: "submit", writes: true, tableAccess: "write" } as const;
const decides = { ...common, scope: "admin", writes: true, tableAccess: "write" } as const;

export const testHealthRoutes = {
  "list-failing-tests": route("list-failing-tests", {
    ...reads,
    path: "/flaky-tests/list-failing-tests",
    summary: "List the tests that failed in a window of time",
    description: "At most seven days; ordered by the latest failure in it, newest first.",
    request: health.listFailingTests,
    reply: health.failingTests,
    errors: ["ORGANIZATION_NOT_FOUND", "REPOSITORY_NOT_FOUND"],
  }),
  "list-unhealthy-tests": route("list-unhealthy-tests", {
    ...reads,
    path: "/flaky-tests/list-unhealthy-tests",
    summary: "List the tests that are flaky or broken",
    description: "Ordered by the time of their status, newest first.",
    request: health.listUnhealthyTests,
    reply: health.unhealthyTests,
    errors: ["ORGANIZATION_NOT_FOUND", "REPOSITORY_NOT_FOUND"],
  }),
  "list-quarantined-tests": route("list-quarantined-tests", {
    ...reads,
    path: "/flaky-tests/list-quarantined-tests",
    summary: "List the tests that are quarantined",
    description:
      "Their failures do not count for an upload's verdict. Ordered by the time of their status, newest first.",
    request: health.listQuarantinedTests,
    reply: health.unhealthyTests,
    errors: ["ORGANIZATION_NOT_FOUND"],
  }),
  "get-test-details": route("get-test-details", {
    ...reads,
    path: "/flaky-tests/get-test-details",
    summary: "Get one test with the evidence of its status",
    description: "Of a test of which an attempt has failed in the last weeks.",
    request: details.getTestDetails,
    reply: details.testDetails,
    errors: ["ORGANIZATION_NOT_FOUND", "TEST_NOT_FOUND"],
  }),
  "get-upload": route("get-upload", {
    ...reads,
    path: "/flaky-tests/get-upload",
    summary: "Get what became of an upload",
    description: "A bundle is read after its upload has been answered; here is what came of it.",
    request: uploads.getUpload,
    reply: uploads.uploadView,
    errors: ["UPLOAD_NOT_FOUND"],
  }),
  "upload-test-results": route("upload-test-results", {
    ...sends,
    path: "/flaky-tests/upload-test-results",
    summary: "Upload a JUnit XML file",
    description:
      "The body is the file as it is, or compressed with gzip. The same file of the same run counts once. Gate a CI step on `verdict`.",
    body: "xml",
    request: uploads.uploadTestResults,
    reply: uploads.uploadAnswer,
    errors: ["BODY_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE"],
  }),
  "create-bundle-upload": route("create-bundle-upload", {
    ...sends,
    path: "/metrics/createBundleUpload",
    summary: "Announce a bundle of test results",
    description:
      "The protocol of existing upload clients. The answer's `url` takes a tar archive, compressed with zstd, of `meta.json`, JUnit files and CODEOWNERS. `/flaky-tests/get-upload` says what came of it.",
    request: bundles.createBundleUpload,
    reply: bundles.bundleUpload,
    errors: ["ORGANIZATION_NOT_FOUND"],
  }),
  "get-quarantine-config": route("get-quarantine-config", {
    ...reads,
    path: "/metrics/getQuarantineConfig",
    summary: "Ask which of some tests are quarantined",
    description: "The protocol of existing upload clients.",
    request: bundles.getQuarantineConfig,
    reply: bundles.quarantineConfig,
    errors: ["ORGANIZATION_NOT_FOUND"],
  }),
  "set-quarantine": route("set-quarantine", {
    ...decides,
    path: "/flaky-tests/set-quarantine",
    summary: "Set whether a test is quarantined",
    description: "UNSPECIFIED leaves it to the repository's settings.",
    request: details.setQuarantine,
    reply: details.quarantineSet,
    errors: ["ORGANIZATION_NOT_FOUND", "TEST_NOT_FOUND"],
  }),
  "link-ticket-to-test-case": route("link-ticket-to-test-case", {
    ...sends,
    path: "/flaky-tests/link-ticket-to-test-case",
    summary: "Link a ticket to a test",
    description: "By its address, or by its id, of which the repository's ticketUrlTemplate makes one.",
    request: details.linkTicket,
    reply: details.ticketLinked,
    errors: ["ORGANIZATION_NOT_FOUND", "TEST_NOT_FOUND"],
  }),
  "get-test-health-settings": route("get-test-health-settings", {
    ...reads,
    path: "/flaky-tests/get-settings",
    summary: "Get a repository's test-health settings",
    description: "Rules with their thresholds and branches, quarantine, address templates.",
    request: details.getSettings,
    reply: details.healthSettings,
    errors: ["ORGANIZATION_NOT_FOUND"],
  }),
  "update-test-health-settings": route("update-test-health-settings", {
    ...decides,
    path: "/flaky-tests/update-settings",
    summary: "Change a repository's test-health settings",
    description: "What is left out stays as it is.",
    request: details.updateSettings,
    reply: details.healthSettings,
    errors: ["ORGANIZATION_NOT_FOUND"],
  }),
} as const;
