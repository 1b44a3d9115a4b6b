/** setImpactedTargets with exactly 20 MiB, against `npm start` in a process of its own, so that its memory is its own. */
import { readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { BODY_BYTES_MAX } from "../../shared/http/body.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { keptConnection, succeeded } from "./http-client.ts";
import { mib, ms, type Row, stated, times } from "./report.ts";
import { median, timed } from "./timing.ts";

const TIMES = 3;
const REPO = { host: "git.local", owner: "acme", name: "app" };
const QUEUE = { repo: REPO, targetBranch: "main" };

/** A body of exactly so many bytes, of targets as a large monorepo has them. */
function bodyOf(bytes: number): Buffer {
  const head = { ...QUEUE, pr: { number: 1, sha: "1".repeat(40) } };
  const start = `${JSON.stringify(head).slice(0, -1)},"impactedTargets":[`;
  const targets: string[] = [];
  // Closed by one target that fills what is left.
  for (let left = bytes - start.length - 2; ; ) {
    const next = `"//services/team-${targets.length % 97}/module-${targets.length}:library"`;
    if (left - next.length - 1 < 200) return Buffer.from(`${start}${[...targets, filler(left)].join(",")}]}`);
    targets.push(next);
    left -= next.length + 1;
  }
}

const filler = (bytes: number): string => `"${"x".repeat(bytes - 2)}"`;

export async function largeTargets(): Promise<readonly Row[]> {
  const body = bodyOf(BODY_BYTES_MAX);
  if (body.length !== BODY_BYTES_MAX) throw new Error(`a body of ${body.length} bytes`);
  const parse = median(await several(async () => JSON.parse(body.toString("utf8"))));
  const server = await startServer();
  try {
    await server.call("/createQueue", QUEUE);
    const plain = await sending(server, body, {});
    const packed = gzipSync(body);
    const gzip = await sending(server, packed, { "content-encoding": "gzip" });
    const row = (name: string, { took, memory }: Measured): Row =>
      stated("targets", name, `${ms(took)}, ${times(took / parse)} of JSON.parse (${ms(parse)})${inWords(memory)}`, {
        ms: took,
        ratio: took / parse,
        parseMs: parse,
        ...memory,
      });
    return [row("setImpactedTargets with 20 MiB", plain), row(`  the same as gzip of ${mib(packed.length)}`, gzip)];
  } finally {
    await server.stop();
  }
}

const several = async (work: () => Promise<unknown>): Promise<readonly number[]> => {
  const took: number[] = [];
  for (let turn = 0; turn < TIMES; turn += 1) took.push(await timed(work));
  return took;
};

type Memory = { readonly peakBytes: number; readonly beforeBytes: number };
type Measured = { readonly took: number; readonly memory: Memory | undefined };

async function sending(server: TestServer, body: Buffer, more: Record<string, string>): Promise<Measured> {
  const client = keptConnection(server.url, server.adminToken);
  const headers = { "content-type": "application/json", "content-length": String(body.length), ...more };
  const before = memoryOf(server.pid);
  forgetPeak(server.pid);
  const took = await several(async () =>
    succeeded("/setImpactedTargets", await client.send("/setImpactedTargets", { body, headers })),
  );
  client.close();
  const after = memoryOf(server.pid);
  const memory = before && after && { peakBytes: after.peak, beforeBytes: before.now };
  return { took: median(took), memory };
}

const inWords = (memory: Memory | undefined): string =>
  memory === undefined ? "" : `; peak memory ${mib(memory.peakBytes)}, before it ${mib(memory.beforeBytes)}`;

/** Of the process; undefined where the system does not tell. */
function memoryOf(pid: number): { readonly now: number; readonly peak: number } | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    const bytes = (name: string): number =>
      Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "mu").exec(status)?.[1]) * 1024;
    return { now: bytes("VmRSS"), peak: bytes("VmHWM") };
  } catch {
    return undefined;
  }
}

function forgetPeak(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, "5");
  } catch {
    // The peak is then the process's since its start.
  }
}
