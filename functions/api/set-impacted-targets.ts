import { pullRequestRoutes } from "../../shared/api/pull-request-routes.ts";
import type { ReplyOf, RequestOf } from "../../shared/api/routes.ts";
import { targetsOfBytes } from "../../shared/http/targets.ts";
import { commitSha, type QueueKey } from "../../shared/kernel/ids.ts";
import { fail, ok } from "../../shared/kernel/result.ts";
import type { QueueApp } from "../../shared/queue/app/ports.ts";
import { setTargets, type TargetsSet } from "../../shared/queue/app/targets.ts";
import { readUpload } from "../../shared/queue/app/uploads.ts";
import { withBucket } from "../bucket.ts";
import { forkDoor } from "../fork-door.ts";
import { gitHubSide } from "../github-side.ts";
import { keyOf, recordedAs } from "../present.ts";
import { queueSide } from "../queue-side.ts";
import { serve } from "../serve.ts";
import type { Parts, Wiring } from "../wiring.ts";
import { withGitHub } from "../with-github.ts";

const both = (parts: Parts) => ({ ...queueSide(parts), ...gitHubSide(parts) });

export const handler = serve(
  pullRequestRoutes["set-impacted-targets"],
  both,
  async ({ input, principal, receipt }, app) => {
    const key = keyOf(principal.org, input);
    const targets = input.impactedTargets === undefined ? await uploaded(app, key, input) : ok(input.impactedTargets);
    if (!targets.ok) return targets;
    const { number, sha } = input.pr;
    const asked = {
      key,
      prNumber: number,
      sha: sha === undefined ? undefined : commitSha(sha),
      targets: targets.value,
      byFork: principal.forkRun !== undefined,
    };
    const done = await setTargets(app, asked, recordedAs(receipt, present));
    return done.ok ? ok(present(done.value)) : done;
  },
  withGitHub(withBucket),
  forkDoor,
);

type App = Pick<Wiring, keyof QueueApp | "uploads">;

async function uploaded(app: App, key: QueueKey, { pr, uploadId }: RequestOf<"set-impacted-targets">) {
  const issues = [{ path: "pr.sha", message: "is needed with uploadId" }];
  if (pr.sha === undefined) return fail("INVALID_REQUEST", "Send the commit that the upload is for.", { issues });
  const bytes = await readUpload(app, { key, prNumber: pr.number, sha: commitSha(pr.sha) }, uploadId ?? "");
  return bytes.ok ? targetsOfBytes(bytes.value) : bytes;
}

const present = ({ prNumber, sha, targets }: TargetsSet): ReplyOf<"set-impacted-targets"> => ({
  prNumber,
  prSha: sha,
  impactedTargets: targets.kind === "ALL" ? "ALL" : targets.count,
});
