import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { withoutSecrets } from "../../../functions/log.ts";
import { mintToken } from "../../../shared/auth/token-format.ts";

const token = mintToken(randomBytes);

test.each([
  ["a token", `the token ${token} is unknown`, token],
  ["a token in an error", new Error(`sent ${token}`), token],
  ["GitHub's token", "remote: https://x:ghs_16C7e42F292c6912E7710c838347Ae178B4a@github.com", "16C7e42F"],
  ["a signed address", "PUT https://b.s3.amazonaws.com/k?X-Amz-Signature=0a1b2c3d&x-id=PutObject", "0a1b2c3d"],
  ["a session of AWS", "https://b/k?X-Amz-Security-Token=IQoJb3JpZ2luX2Vj%2F%2F&a=1", "IQoJb3JpZ2lu"],
  ["a private key", "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END", "MIIEow"],
])("a log line does not hold %s", (_, value, secret) => {
  const shown = String(withoutSecrets("error", value));
  expect(shown).not.toContain(secret);
  expect(shown).toContain("[secret]");
});

test("what is no secret stays as it is", () => {
  const line = { tokenName: "ci", tokenId: "t1", prNumber: 7, url: "https://b/k?x-id=PutObject", at: null };
  expect(JSON.parse(JSON.stringify(line, withoutSecrets))).toEqual(line);
});
