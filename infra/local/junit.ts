/**
 * `npm run -s junit -- <file>…`: what the service reads in JUnit files, as one array of JSON on standard output. A file
 * that is no JUnit has no counts (null), and its first issue says what it is. The exit status is 1 where a file cannot
 * be opened; the others are printed all the same.
 */
import { createReadStream } from "node:fs";
import { constants, createGunzip } from "node:zlib";
import { READ_BYTES_MAX } from "../../shared/test-health/junit/caps.ts";
import { readJUnit } from "../../shared/test-health/junit/read.ts";
import type { Issue, Report } from "../../shared/test-health/junit/report.ts";

type Line = {
  readonly file: string;
  readonly tests: number | null;
  readonly failures: number | null;
  readonly errors: number | null;
  readonly skipped: number | null;
  readonly issues: readonly Issue[];
};

const NO_COUNTS = { tests: null, failures: null, errors: null, skipped: null };

/** Answers the exit status. */
export async function main(files: readonly string[], say: (text: string) => void): Promise<number> {
  const lines: Line[] = [];
  let status = 0;
  for (const file of files)
    try {
      lines.push(lineOf(file, readJUnit(await contentOf(file))));
    } catch (error) {
      status = 1;
      const message = `It cannot be opened: ${error instanceof Error ? error.message : String(error)}.`;
      lines.push({ file, ...NO_COUNTS, issues: [{ line: 1, column: 1, message }] });
    }
  say(JSON.stringify(lines, null, 2));
  return status;
}

function lineOf(file: string, report: Report): Line {
  if (report.kind === "READ") return { file, ...report.counts, issues: report.issues };
  const { what, issues } = report;
  return { file, ...NO_COUNTS, issues: [{ line: 1, column: 1, message: what }, ...issues] };
}

/** One byte more than is read, so that the reader knows of it. A file of gzip that is cut off is unpacked up to there. */
async function contentOf(file: string): Promise<Uint8Array> {
  const raw = await firstBytes(createReadStream(file));
  if (raw[0] !== 0x1f || raw[1] !== 0x8b) return raw;
  const unpacked = createReadStream(file).pipe(createGunzip({ finishFlush: constants.Z_SYNC_FLUSH }));
  return firstBytes(unpacked);
}

async function firstBytes(stream: AsyncIterable<unknown>): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of stream) {
    if (!(piece instanceof Uint8Array)) continue;
    pieces.push(piece);
    length += piece.length;
    if (length > READ_BYTES_MAX) break;
  }
  return Buffer.concat(pieces);
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2), (text) => console.log(text));
