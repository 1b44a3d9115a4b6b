/**
 * What each function weighs and how long it takes to load, as a ratio to a bare handler of the same kind: middy, zod and
 * the document client, bundled as the functions are. Loading is timed in fresh processes that take turns, in the
 * processor's time: that is what a start costs, and waiting for a busy machine's other work is not.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { type Bundle, BUNDLING, bundleFunctions } from "../../infra/bundle.ts";
import { kib, ms, promised, type Row, stated, times } from "./report.ts";
import { median } from "./timing.ts";

const RATIO_MAX = 1.25;
const ROUNDS = 7;
const ROOT = fileURLToPath(new URL("../..", import.meta.url));

const BARE = `
  import middy from "@middy/core";
  import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
  import { DynamoDBDocumentClient, GetCommand } from "@aws-sdk/lib-dynamodb";
  import * as z from "zod";
  const client = DynamoDBDocumentClient.from(new DynamoDBClient({}));
  const request = z.object({ pk: z.string(), sk: z.string() });
  export const handler = middy().handler(async (event) => {
    const { Item } = await client.send(new GetCommand({ TableName: "t", Key: request.parse(JSON.parse(event.body)) }));
    return { statusCode: 200, body: JSON.stringify(Item) };
  });
`;

/** Clients and readers that a function has for what it is there for. */
const APART: readonly (readonly [string, RegExp])[] = [
  ["S3's client", /@aws-sdk\/client-s3\//u],
  ["the scheduler's client", /@aws-sdk\/client-scheduler\//u],
  ["readers of XML", /node_modules\/saxes\//u],
];

type Measured = Bundle & { readonly ms: number; readonly size: number; readonly time: number };

async function bareHandler(folder: string): Promise<string> {
  await build({
    ...BUNDLING,
    stdin: { contents: BARE, resolveDir: ROOT },
    outfile: join(folder, "bare", "index.mjs"),
  });
  return join(folder, "bare");
}

/** Milliseconds that it takes to load and run the module, in a process that does nothing else. */
function loading(path: string): number {
  const module = JSON.stringify(pathToFileURL(join(path, "index.mjs")).href);
  const program = `const begun = process.cpuUsage();
    await import(${module});
    const { user, system } = process.cpuUsage(begun);
    console.log((user + system) / 1_000);`;
  const args = ["--input-type=module", "--eval", program];
  return Number(execFileSync(process.execPath, args, { encoding: "utf8", cwd: path, env: {} }));
}

type Loaded = { readonly ms: number; readonly ratio: number };

/** Each is held against the bare handler just before it: what else the machine does in that moment falls on both. */
function loadingTimes(bare: string, paths: readonly string[]): ReadonlyMap<string, Loaded> {
  const taken = new Map(paths.map((path): [string, Loaded[]] => [path, []]));
  for (let round = -1; round < ROUNDS; round += 1)
    for (const [path, loads] of taken) {
      const bareMs = loading(bare);
      const took = loading(path);
      if (round >= 0) loads.push({ ms: took, ratio: took / bareMs });
    }
  const middle = (loads: readonly Loaded[], of: keyof Loaded): number => median(loads.map((one) => one[of]));
  return new Map([...taken].map(([path, loads]) => [path, { ms: middle(loads, "ms"), ratio: middle(loads, "ratio") }]));
}

const apartFor = ({ inputs }: Bundle): string | undefined =>
  APART.find(([, file]) => [...inputs.keys()].some((input) => file.test(input)))?.[0];

const most = (all: readonly Measured[], of: (one: Measured) => number): Measured | undefined =>
  all.toSorted((a, b) => of(b) - of(a))[0];

export async function bundles(): Promise<readonly Row[]> {
  const folder = mkdtempSync(join(tmpdir(), "mainline-bench-"));
  try {
    const [made, bare] = await Promise.all([bundleFunctions(folder), bareHandler(folder)]);
    const took = loadingTimes(
      bare,
      made.map(({ path }) => path),
    );
    const bareBytes = statSync(join(bare, "index.mjs")).size;
    const all = made.map((bundle): Measured => {
      const { ms: loadMs, ratio } = took.get(bundle.path) ?? { ms: Number.NaN, ratio: Number.NaN };
      return { ...bundle, ms: loadMs, size: bundle.bytes / bareBytes, time: ratio };
    });
    return [stated("bundles", "a bare handler", kib(bareBytes), { bytes: bareBytes }), ...rowsOf(all)];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function rowsOf(all: readonly Measured[]): readonly Row[] {
  const plain = all.filter((bundle) => apartFor(bundle) === undefined);
  const apart = all.filter((bundle) => apartFor(bundle) !== undefined);
  return [
    ...goalRows(plain),
    ...apart.map((bundle) =>
      stated("bundles", `${bundle.id}, with ${apartFor(bundle)}`, inWords(bundle), numbersOf(bundle)),
    ),
  ];
}

const numbersOf = ({ bytes, ms: loadMs, size, time }: Measured) => ({ bytes, ms: loadMs, size, time });
const inWords = ({ bytes, ms: loadMs, size, time }: Measured): string =>
  `${kib(bytes)}, ${times(size)} in size; ${ms(loadMs)}, ${times(time)} in time`;

/** The goal is each function's: the one that is furthest from it speaks for all. */
function goalRows(plain: readonly Measured[]): readonly Row[] {
  const [largest, slowest] = [most(plain, ({ size }) => size), most(plain, ({ time }) => time)];
  if (largest === undefined || slowest === undefined) throw new Error("there are no functions");
  const goalOf = (ratio: number) => ({ goal: `<= ${RATIO_MAX}x`, holds: ratio <= RATIO_MAX });
  const typical = { size: median(plain.map(({ size }) => size)), time: median(plain.map(({ time }) => time)) };
  const text = `${times(typical.size)} in size, ${times(typical.time)} in time`;
  return [
    stated("bundles", `${plain.length} functions, the median`, text, typical),
    promised("bundles", `the largest, ${largest.id}`, inWords(largest), goalOf(largest.size), numbersOf(largest)),
    promised(
      "bundles",
      `the slowest to load, ${slowest.id}`,
      inWords(slowest),
      goalOf(slowest.time),
      numbersOf(slowest),
    ),
  ];
}
