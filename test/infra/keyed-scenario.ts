/** Every request that writes, under an `Idempotency-Key`: the first time, again, and while the table is away. */
import { type RouteId, type Routes, routes } from "../../shared/api/routes.ts";
import { Unavailable } from "../../shared/kernel/unavailable.ts";
import { junit, sha } from "../support/health.ts";
import type { Site } from "./site.ts";

type WritingId = { [Id in RouteId]: Routes[Id]["writes"] extends true ? Id : never }[RouteId];

const repo = { host: "git.local", owner: "acme", name: "app" };
const queue = { repo, targetBranch: "keyed" };
const pr = { number: 70, sha: sha("e") };
const health = { repo, org_url_slug: "local" };
const FILE = "xml";

/** In the order in which they make sense. */
const REQUESTS: Readonly<Record<WritingId, object | typeof FILE>> = {
  "create-queue": queue,
  "update-queue": { ...queue, concurrency: 2 },
  "submit-pull-request": { ...queue, pr },
  "restart-tests-on-pull-request": { ...queue, pr },
  "set-impacted-targets": { ...queue, pr, impactedTargets: ["//a"] },
  "create-impacted-targets-upload": { ...queue, pr },
  "cancel-pull-request": { ...queue, pr },
  "schedule-maintenance": { ...queue, action: "drain", durationMinutes: 10 },
  "cancel-maintenance": { windowId: "none" },
  "delete-queue": queue,
  "upload-test-results": FILE,
  "create-bundle-upload": { repo, orgUrlSlug: "local" },
  "update-test-health-settings": { ...health, defaultBranch: "main" },
  "set-quarantine": { ...health, test_case_id: "none", setting: "UNSPECIFIED" },
  "link-ticket-to-test-case": { ...health, test_case_id: "none", external_ticket_id: "T-2" },
};

const isWriting = (id: string): id is WritingId => Object.hasOwn(REQUESTS, id);

const UPLOAD = new URLSearchParams({
  repo: "acme/app",
  repoHost: "git.local",
  sha: sha("e"),
  branch: "main",
  job: "keyed",
});

export async function keyed(site: Site): Promise<void> {
  for (const [id, body] of Object.entries(REQUESTS)) {
    if (!isWriting(id)) throw new Error(`${id} does not write`);
    const { path } = routes[id];
    const asks = (key: string) => {
      const headers = { "idempotency-key": key };
      if (typeof body !== "string") return site.asks(path, body, headers);
      return site.sends(`${path}?${UPLOAD.toString()}`, junit({ one: "F" }), headers);
    };
    await asks("first");
    await asks("first");
    site.recorder.before(({ by, pk }) => {
      if (by === id && !pk.includes("#IDEMPOTENCY#")) throw new Unavailable("the table is away");
    });
    await asks("second");
    site.recorder.before(undefined);
  }
}
