/** Bodies by size and by encoding, each a set of impacted targets of a commit that does not exist. */
import { gzipSync } from "node:zlib";
import { type Check, type Outcome, outcome, refused, type Site, succeeded, told } from "./check.ts";
import type { Reply } from "./http.ts";

const MIB = 1024 * 1024;
export const PR = { number: 1, sha: "a".repeat(40) } as const;

const post = ({ send, token }: Site, body: string | Uint8Array, headers: Readonly<Record<string, string>> = {}) =>
  send("/setImpactedTargets", {
    body,
    headers: { "content-type": "application/json", "x-api-token": token, ...headers },
  });

const bodyOf = ({ scratch }: Site, impactedTargets: unknown, more: object = {}): string =>
  JSON.stringify({ ...scratch, pr: PR, impactedTargets, ...more });

/** The room is a field that nobody reads. */
function bodyOfBytes(site: Site, bytes: number): string {
  const bare = bodyOf(site, ["a"], { room: "" });
  return bodyOf(site, ["a"], { room: "x".repeat(bytes - Buffer.byteLength(bare)) });
}

/** Compresses to a fifth. */
const manyTargets = (bytes: number): readonly string[] =>
  Array.from(
    { length: Math.floor(bytes / 40) },
    (_, at) => `//services/app-${String(at % 977).padStart(5, "0")}:${at}`,
  );

/** Beyond what a gateway lets through, any refusal of its own is as good as another. */
function beyond(reply: Reply, { where }: Site): Outcome {
  if (where === "local") return succeeded(reply, ": there is no gateway here");
  if (reply.status === 413) return outcome("pass", `this gateway answers ${told(reply)}`);
  return outcome("note", `this gateway answers ${told(reply)}; 413 was expected`);
}

const raw = (mib: number, judge: (reply: Reply, site: Site) => Outcome): Check => ({
  name: `a raw body of ${mib} MiB`,
  run: async (site) => judge(await post(site, bodyOfBytes(site, mib * MIB)), site),
});

const zipped = (
  name: string,
  headers: Readonly<Record<string, string>>,
  damaged: (reply: Reply) => Outcome,
): Check => ({
  name,
  run: async (site) => {
    const reply = await post(site, gzipSync(bodyOf(site, ["a", "b"])), headers);
    return reply.status === 200 ? succeeded(reply) : damaged(reply);
  },
});

const mustPass = (reply: Reply): Outcome => outcome("fail", `${told(reply)}; expected 200`);

export const bodies: readonly Check[] = [
  raw(5.5, (reply) => succeeded(reply)),
  raw(7, beyond),
  raw(11, beyond),
  zipped("gzip as application/gzip", { "content-type": "application/gzip" }, mustPass),
  zipped("gzip as JSON with Content-Encoding: gzip", { "content-encoding": "gzip" }, (reply) =>
    reply.status < 500
      ? outcome("note", `this gateway damages it (${told(reply)}): send application/gzip`)
      : mustPass(reply),
  ),
  {
    name: "gzip of 19 MiB, as application/gzip",
    run: async (site) => {
      const bytes = gzipSync(bodyOf(site, manyTargets(19 * MIB)), { level: 9 });
      const reply = await post(site, bytes, { "content-type": "application/gzip" });
      return succeeded(reply, `, compressed to ${(bytes.length / MIB).toFixed(1)} MiB`);
    },
  },
  {
    name: "a body that a client sends only when it is asked to (Expect: 100-continue)",
    run: async (site) => succeeded(await post(site, bodyOf(site, ["a"]), { Expect: "100-continue" })),
  },
  {
    name: "targets in any script",
    run: async (site) => succeeded(await post(site, bodyOf(site, ["//läden:прод", "商店", "😀"]))),
  },
  {
    name: "bytes that are no UTF-8",
    run: async (site) => {
      const reply = await post(site, Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d));
      return refused(reply, 400, "INVALID_REQUEST");
    },
  },
  {
    name: "a body that is no JSON",
    run: async (site) => refused(await post(site, "{"), 400, "INVALID_REQUEST"),
  },
];
