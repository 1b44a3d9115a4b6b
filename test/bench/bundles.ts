/**
 * What each function weighs and how long it takes to load, as a ratio to a bare handler of the same kind: middy, zod and
 * the document client, bundled as the functions are. Loading is timed in fresh processes that take turns.
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
const ROUNDS = 9;
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

type Measured = Bundle & { readonly ms: number };

async function bareHandler(folder: string): Promise<string> {
  await build({
    ...BUNDLING,
    stdin: { contents: BARE, resolveDir: ROOT },
    outfile: join(folder, "bare", "index.mjs"),
  });
  return join(folder, "bare");
}

/** Milliseconds until the module has been loaded and run, in a process that does nothing else. */
function loading(path: string): number {
  const module = JSON.stringify(pathToFileURL(join(path, "index.mjs")).href);
  const program = `const begun = performance.now(); await import(${module}); console.log(performance.now() - begun);`;
  const args = ["--input-type=module", "--eval", program];
  return Number(execFileSync(process.execPath, args, { encoding: "utf8", cwd: path, env: {} }));
}

function loadingTimes(paths: readonly string[]): ReadonlyMap<string, number> {
  const taken = new Map(paths.map((path): [string, number[]] => [path, []]));
  for (let round = -1; round < ROUNDS; round += 1)
    for (const [path, times] of taken) {
      const took = loading(path);
      if (round >= 0) times.push(took);
    }
  return new Map([...taken].map(([path, times]) => [path, median(times)]));
}

const apartFor = ({ inputs }: Bundle): string | undefined =>
  APART.find(([, file]) => [...inputs.keys()].some((input) => file.test(input)))?.[0];

const most = (all: readonly Measured[], of: (one: Measured) => number): Measured | undefined =>
  all.toSorted((a, b) => of(b) - of(a))[0];

export async function bundles(): Promise<readonly Row[]> {
  const folder = mkdtempSync(join(tmpdir(), "mainline-bench-"));
  try {
    const [made, bare] = await Promise.all([bundleFunctions(folder), bareHandler(folder)]);
    const took = loadingTimes([bare, ...made.map(({ path }) => path)]);
    const all = made.map((bundle): Measured => ({ ...bundle, ms: took.get(bundle.path) ?? Number.NaN }));
    return rowsOf(all, { bytes: statSync(join(bare, "index.mjs")).size, ms: took.get(bare) ?? Number.NaN });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

type Bare = { readonly bytes: number; readonly ms: number };

function rowsOf(all: readonly Measured[], bare: Bare): readonly Row[] {
  const plain = all.filter((bundle) => apartFor(bundle) === undefined);
  const apart = all.filter((bundle) => apartFor(bundle) !== undefined);
  const text = `${kib(bare.bytes)}, loaded in ${ms(bare.ms)}`;
  return [
    stated("bundles", "a bare handler", text, { ...bare }),
    ...goalRows(plain, bare),
    ...apart.map((bundle) => {
      const size = bundle.bytes / bare.bytes;
      const time = bundle.ms / bare.ms;
      const measured = `${kib(bundle.bytes)}, ${times(size)} in size, ${times(time)} in time`;
      return stated("bundles", `${bundle.id}, with ${apartFor(bundle)}`, measured, { size, time });
    }),
  ];
}

/** The goal is each function's: the one that is furthest from it speaks for all. */
function goalRows(plain: readonly Measured[], bare: Bare): readonly Row[] {
  const [largest, slowest] = [most(plain, ({ bytes }) => bytes), most(plain, (one) => one.ms)];
  if (largest === undefined || slowest === undefined) throw new Error("there are no functions");
  const goalOf = (ratio: number) => ({ goal: `<= ${RATIO_MAX}x`, holds: ratio <= RATIO_MAX });
  const size = largest.bytes / bare.bytes;
  const time = slowest.ms / bare.ms;
  const typical = {
    size: median(plain.map(({ bytes }) => bytes)) / bare.bytes,
    time: median(plain.map((one) => one.ms)) / bare.ms,
  };
  return [
    stated(
      "bundles",
      `${plain.length} functions, the median`,
      `${times(typical.size)} in size, ${times(typical.time)} in time`,
      typical,
    ),
    promised("bundles", `the largest, ${largest.id}`, `${kib(largest.bytes)}, ${times(size)}`, goalOf(size), { size }),
    promised("bundles", `the slowest to load, ${slowest.id}`, `${ms(slowest.ms)}, ${times(time)}`, goalOf(time), {
      time,
    }),
  ];
}
