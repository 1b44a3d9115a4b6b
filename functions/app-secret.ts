/**
 * The GitHub App as its secret has it. Read at a cold start, again after some minutes, and when GitHub takes its
 * credentials no longer: whoever changes the secret has nothing to deploy. All other functions are bundled without the
 * client of Secrets Manager.
 */
import {
  GetSecretValueCommand,
  ResourceNotFoundException,
  SecretsManagerClient,
} from "@aws-sdk/client-secrets-manager";
import { type GitHubAppSecret, gitHubAppOf, isEmpty } from "../shared/code-host/github/app-secret.ts";
import { type CodeHost, HostUnavailable } from "../shared/code-host/port.ts";
import type { Log } from "../shared/kernel/log.ts";
import { type Clock, epochMs, later, MINUTE_MS, SECOND_MS, systemClock } from "../shared/kernel/time.ts";
import { GITHUB, readEnvironment, SERVICE } from "./environment.ts";
import { type PartsOf, tableOnly } from "./parts.ts";
import type { Parts } from "./wiring.ts";

/** The secret's text; undefined where nobody has put anything in it. Throws when it cannot be read. */
export type ReadSecret = () => Promise<string | undefined>;

type Connected = Pick<Parts, "hosts" | "gitHub">;
/** `refused`: GitHub said 401 to what was made. */
export type Connect = (app: GitHubAppSecret, refused: () => void) => Connected;

export type Renewing = {
  readonly read: ReadSecret;
  readonly connect: Connect;
  readonly clock: Clock;
  readonly log: Pick<Log, "error">;
};

const GOOD_MS = 5 * MINUTE_MS;
/** A secret that cannot be read, or credentials that are refused, are looked at again no sooner. */
const AGAIN_MS = 10 * SECOND_MS;
const ANSWERS_WITHIN_MS = 2 * SECOND_MS;

const NOBODY: Connected = { hosts: () => undefined, gitHub: undefined };

export function renewing({ read, connect, clock, log }: Renewing): NonNullable<Parts["renewed"]> {
  let known: { readonly text: string | undefined } | undefined;
  let goodUntil = epochMs(0);
  let readAt = epochMs(0);
  const refused = (): void => {
    log.error("GitHub refuses the credentials of the GitHub App: its secret is read again");
    goodUntil = later(readAt, AGAIN_MS);
  };
  const unreadable = (why: string): Connected | undefined => {
    log.error("the secret of the GitHub App cannot be used", { error: why });
    goodUntil = later(clock(), AGAIN_MS);
    return known === undefined ? { hosts: () => unreachable, gitHub: undefined } : undefined;
  };
  return async () => {
    if (clock() < goodUntil) return undefined;
    readAt = clock();
    try {
      const text = await read();
      goodUntil = later(clock(), GOOD_MS);
      if (known !== undefined && known.text === text) return undefined;
      const app = text === undefined ? undefined : gitHubAppOf(text);
      if (text !== undefined && app === undefined) return unreadable("it holds no GitHub App");
      known = { text };
      return app === undefined ? NOBODY : connect(app, refused);
    } catch (error) {
      return unreadable(String(error));
    }
  };
}

/** Says of no host that it is not connected, as long as nobody knows. */
const unreachable: CodeHost = (() => {
  const fails = async (): Promise<never> => {
    throw new HostUnavailable("the secret of the GitHub App cannot be read just now");
  };
  return {
    pullRequest: fails,
    tip: fails,
    impactedTargets: fails,
    buildRun: fails,
    repeatChecks: fails,
    statuses: fails,
    closeRun: fails,
    land: fails,
  };
})();

function secretOf(SecretId: string): ReadSecret {
  const client = new SecretsManagerClient({ maxAttempts: 2, requestHandler: { requestTimeout: ANSWERS_WITHIN_MS } });
  return async () => {
    try {
      const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId }));
      return isEmpty(SecretString) ? undefined : SecretString;
    } catch (error) {
      // A secret is made without a value, which is not told from there being no secret.
      if (error instanceof ResourceNotFoundException) return undefined;
      throw error;
    }
  };
}

/** Where GitHub talks to the service and is not talked to. */
export const door = (app: GitHubAppSecret): Connected["gitHub"] => ({
  host: app.host,
  webhookSecret: app.webhookSecret,
});

export const withSecret =
  (partsOf: PartsOf, connect: (parts: Parts, ...how: Parameters<Connect>) => Connected): PartsOf =>
  (variables) => {
    const { MAINLINE_GITHUB_SECRET_ARN } = readEnvironment(SERVICE.extend(GITHUB.shape), variables);
    const parts = partsOf(variables);
    const { log, clock = systemClock } = parts;
    const read = secretOf(MAINLINE_GITHUB_SECRET_ARN);
    const connected: Connect = (app, refused) => connect(parts, app, refused);
    return { ...parts, renewed: renewing({ read, connect: connected, clock, log }) };
  };

export const withWebhooks: PartsOf = withSecret(tableOnly, (parts, app) => ({ hosts: parts.hosts, gitHub: door(app) }));
