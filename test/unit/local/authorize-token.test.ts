import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { authorizer } from "../../../functions/workers/authorize-token.ts";
import { hashToken, mintToken } from "../../../shared/auth/token-format.ts";
import { fromAuthorizerContext } from "../../../shared/http/authorizer-answer.ts";
import { orgSlug } from "../../../shared/kernel/ids.ts";
import { epochMs } from "../../../shared/kernel/time.ts";
import type { TokenRecord } from "../../../shared/table/tokens.ts";

const token = mintToken(randomBytes);
const NOW = epochMs(1_000);

const record: TokenRecord = {
  org: orgSlug("acme"),
  tokenId: "id",
  name: "ci",
  scopes: ["read", "submit"],
  enumCase: "lower",
  createdAt: epochMs(1),
  expiresAt: epochMs(2_000),
  revokedAt: null,
};

function ask(sent: string | undefined, more: Partial<TokenRecord> = {}) {
  const looked: string[] = [];
  const findByHash = async (hash: string) => {
    looked.push(hash);
    return hash === hashToken(token) ? { ...record, ...more } : undefined;
  };
  const handler = authorizer(() => ({ tokens: { findByHash }, clock: () => NOW }));
  const headers = sent === undefined ? {} : { "x-api-token": sent };
  return handler({ headers }).then((answer) => ({ answer, looked }));
}

const NOBODY = { isAuthorized: true, context: {} };

describe("the authorizer", () => {
  it("says who holds a good token, as endpoint() reads it", async () => {
    const { answer } = await ask(token);
    expect(answer.isAuthorized).toBe(true);
    expect(fromAuthorizerContext(answer.context)).toEqual({
      org: "acme",
      tokenId: "id",
      tokenName: "ci",
      scopes: ["read", "submit"],
      enumCase: "lower",
      expiresAt: 2_000,
    });
  });

  it("looks up by the hash alone", async () => {
    expect((await ask(token)).looked).toEqual([hashToken(token)]);
  });

  it.each([undefined, "", "nonsense", `${token}x`, `${token.slice(0, -1)}!`, token.toLowerCase()])(
    "knows nobody with %j, without a look-up",
    async (sent) => expect(await ask(sent)).toEqual({ answer: NOBODY, looked: [] }),
  );

  it.each([
    ["revoked", { revokedAt: epochMs(999) }],
    ["expired this moment", { expiresAt: NOW }],
  ])("knows nobody with a token that is %s", async (_, more) => {
    expect((await ask(token, more)).answer).toEqual(NOBODY);
  });

  it("knows nobody with a token that was never given out", async () => {
    expect((await ask(mintToken(randomBytes))).answer).toEqual(NOBODY);
  });

  it("tells of no expiry where there is none", async () => {
    const { answer } = await ask(token, { expiresAt: null });
    expect(fromAuthorizerContext(answer.context)).not.toHaveProperty("expiresAt");
  });
});
