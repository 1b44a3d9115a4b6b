import { verify } from "@octokit/webhooks-methods";
import { otherRoutes } from "../../shared/api/other-routes.ts";
import { type Hint, hintOf, type Named } from "../../shared/code-host/github/webhook.ts";
import { openEndpoint } from "../../shared/http/endpoint.ts";
import type { ApiHandler } from "../../shared/http/event.ts";
import { repoKey } from "../../shared/kernel/ids.ts";
import { fail, ok } from "../../shared/kernel/result.ts";
import { leftBy, marksOf } from "../../shared/queue/app/hints.ts";
import { withWebhooks } from "../app-secret.ts";
import type { Installation } from "../../shared/table/installations.ts";
import { gitHubSide } from "../github-side.ts";
import { lent } from "../lent.ts";
import { nameInvocation } from "../log.ts";
import { queueSide } from "../queue-side.ts";
import type { Parts, Wiring } from "../wiring.ts";

const both = (parts: Parts) => ({ ...queueSide(parts), ...gitHubSide(parts) });
type Names = keyof ReturnType<typeof both>;
const app = lent<Names>(both, withWebhooks);

const REFUSED = "This is not signed with the webhook secret of the GitHub App that is set up here.";
const DELIVERY = /^[A-Za-z0-9-]{1,100}$/u;

const receive = openEndpoint(otherRoutes["receive-github-webhook"], app, async ({ file, header, requestId }) => {
  const { gitHub, log } = app();
  const text = Buffer.from(file).toString("utf8");
  const signature = header("x-hub-signature-256") ?? "";
  if (
    gitHub === undefined ||
    signature === "" ||
    text === "" ||
    !(await verify(gitHub.webhookSecret, text, signature))
  ) {
    log.warn("a webhook was refused: its signature is not of this App's secret", { requestId });
    return fail("UNAUTHENTICATED", REFUSED);
  }
  const delivery = header("x-github-delivery") ?? "";
  const payload = parsed(text);
  if (payload === undefined || !DELIVERY.test(delivery))
    return fail("INVALID_REQUEST", "A webhook is JSON, and names its delivery in x-github-delivery.");
  const hint = hintOf(header("x-github-event") ?? "", payload);
  const result = hint === undefined ? "IGNORED" : await take(app(), gitHub.host, delivery, hint);
  return ok({ delivery: result });
});

async function take(on: Pick<Wiring, Names>, host: string, delivery: string, hint: Hint) {
  const known = await on.installations.byId(host, hint.installation);
  if (known === undefined) {
    on.log.info("a webhook was dropped: its installation is linked to no organization", {
      delivery,
      installation: hint.installation,
    });
    return "IGNORED";
  }
  if (hint.uninstalled) {
    await on.installations.unlink(host, hint.installation);
    return "TAKEN";
  }
  const named = hint.repo === undefined ? hint.others : [hint.repo];
  const repos = (await Promise.all(named.map((one) => reposOf(on, host, known, one)))).flat();
  const left = (await Promise.all(repos.map((repo) => leftBy(on, known.org, repo, { id: delivery, ...hint })))).flat();
  if (left.length === 0) return "IGNORED";
  return on.deliveries.take(host, [delivery, ...marksOf(hint.sayings)], left);
}

/** As queues know the repository: it may have been called otherwise when they were made. */
async function reposOf(on: Pick<Wiring, Names>, host: string, { org, account }: Installation, repo: Named) {
  const known = await on.repositoriesOfId(org, host, repo.id);
  // An account may hand a repository over: what the installation says of others' is not for this organization.
  if (known.length > 0 || repo.owner.toLowerCase() !== account) return known;
  return [repoKey({ host, ...repo })];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export const handler: ApiHandler = async (event, context) => {
  nameInvocation(context);
  await app.ready();
  return receive(event, context);
};
