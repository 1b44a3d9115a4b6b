import { describe, expect, test } from "vitest";
import { renewing } from "../../../functions/app-secret.ts";
import type { Parts } from "../../../functions/wiring.ts";
import { HostUnavailable } from "../../../shared/code-host/port.ts";
import { orgSlug, repoKey } from "../../../shared/kernel/ids.ts";
import { epochMs, MINUTE_MS, SECOND_MS } from "../../../shared/kernel/time.ts";

const ORG = orgSlug("acme");
const REPO = repoKey({ host: "github.com", owner: "acme", name: "app" });
const KEY = "-----BEGIN RSA PRIVATE KEY-----\nc2VjcmV0\n-----END RSA PRIVATE KEY-----\n";
const appText = (webhookSecret: string) =>
  JSON.stringify({ appId: 1, slug: "mainline", privateKey: KEY, webhookSecret });

/** A secret that a test changes, and what was made of it. */
function aSecret(text: string | undefined) {
  let now = epochMs(1_000_000);
  const secret = { text, breaks: false, reads: 0, lines: [] as string[] };
  let refused = (): void => {};
  const renewed = renewing({
    read: async () => {
      secret.reads += 1;
      if (secret.breaks) throw new Error("AccessDeniedException");
      return secret.text;
    },
    connect: (app, again) => {
      refused = again;
      return { hosts: () => undefined, gitHub: { host: app.host, webhookSecret: app.webhookSecret } };
    },
    clock: () => now,
    log: { error: (message, fields) => void secret.lines.push(JSON.stringify([message, fields])) },
  });
  const passes = (ms: number): void => {
    now = epochMs(now + ms);
  };
  return { secret, renewed, passes, refused: () => refused() };
}

const heard = (given: Pick<Parts, "gitHub"> | undefined) => given?.gitHub?.webhookSecret;

describe("the secret of the GitHub App", () => {
  test("is read at a cold start, and then no more for some minutes", async () => {
    const { secret, renewed, passes } = aSecret(appText("one"));
    expect(heard(await renewed())).toBe("one");
    for (let call = 0; call < 100; call += 1) {
      passes(2 * SECOND_MS);
      expect(await renewed()).toBeUndefined();
    }
    expect(secret.reads).toBe(1);
  });

  test("is taken as it is now after some minutes, without a deployment; unchanged, nothing is made anew", async () => {
    const { secret, renewed, passes } = aSecret(appText("one"));
    await renewed();
    passes(6 * MINUTE_MS);
    expect(await renewed()).toBeUndefined();
    secret.text = appText("two");
    passes(6 * MINUTE_MS);
    expect(heard(await renewed())).toBe("two");
    expect(secret.reads).toBe(3);
  });

  test("is read again within seconds where GitHub refuses what it holds, and not at every call", async () => {
    const { secret, renewed, passes, refused } = aSecret(appText("one"));
    await renewed();
    secret.text = appText("two");
    passes(20 * SECOND_MS);
    refused();
    expect(heard(await renewed())).toBe("two");
    for (let call = 0; call < 20; call += 1) {
      refused();
      await renewed();
    }
    expect(secret.reads).toBe(2);
    expect(secret.lines[0]).toContain("GitHub refuses the credentials");
  });

  test("without an App in it connects nobody, until there is one", async () => {
    const { secret, renewed, passes } = aSecret(undefined);
    const first = await renewed();
    expect(first?.hosts(ORG, "github.com")).toBeUndefined();
    expect(first?.gitHub).toBeUndefined();
    secret.text = appText("one");
    passes(6 * MINUTE_MS);
    expect(heard(await renewed())).toBe("one");
  });

  test.each([
    ["cannot be read", true, undefined],
    ["holds something else", false, '{"privateKey":"hunter2"}'],
  ])("that %s says that the host is out of reach, not that there is none, and is tried again", async (...how) => {
    const [, breaks, text] = how;
    const { secret, renewed, passes } = aSecret(text);
    secret.breaks = breaks;
    const first = await renewed();
    const asked = first?.hosts(ORG, "github.com")?.pullRequest(REPO, 1, "main");
    await expect(asked).rejects.toThrow(HostUnavailable);
    expect(await renewed()).toBeUndefined();
    expect(secret.lines.join()).not.toContain("hunter2");
    Object.assign(secret, { breaks: false, text: appText("one") });
    passes(11 * SECOND_MS);
    expect(heard(await renewed())).toBe("one");
  });

  test("that cannot be read any more leaves what was made of it", async () => {
    const { secret, renewed, passes } = aSecret(appText("one"));
    await renewed();
    secret.breaks = true;
    passes(6 * MINUTE_MS);
    expect(await renewed()).toBeUndefined();
    secret.breaks = false;
    passes(11 * SECOND_MS);
    expect(await renewed()).toBeUndefined();
    expect(secret.reads).toBe(3);
  });
});
