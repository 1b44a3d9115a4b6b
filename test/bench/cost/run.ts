/** `npm run cost`: what a month costs on AWS, by how many pull requests are merged in it. */
import { ScanCommand } from "@aws-sdk/lib-dynamodb";
import { bill, tableOf } from "../../../infra/cost/bill.ts";
import { PER_PULL_REQUEST } from "../../../infra/cost/assumptions.ts";
import { readPrices } from "../../../infra/cost/prices.ts";
import { type BenchService, startService } from "../service.ts";
import { unitsOf } from "./month.ts";
import { queueMonth } from "./queue-month.ts";
import { deployed } from "./stacks.ts";
import { testsMonth } from "./tests-month.ts";

const SIZES = [0, 100, 1_000, 10_000];
const SAMPLE = 40;
const UPLOADS_SAMPLE = 200;

/** A scan that is eventually consistent counts half a unit for 4 KB. */
async function bytesOfTable({ table, meter }: BenchService): Promise<number> {
  const { cost } = await meter.during(async () => {
    let ExclusiveStartKey: Record<string, unknown> | undefined;
    do {
      const page = await table.client.send(new ScanCommand({ TableName: table.name, ExclusiveStartKey }));
      ExclusiveStartKey = page.LastEvaluatedKey;
    } while (ExclusiveStartKey !== undefined);
  });
  return cost.reads * 8192;
}

const service = await startService();
try {
  const say = (line: string): void => void process.stderr.write(`${line}\n`);
  say("the stacks …");
  const stacks = deployed();
  say("40 pull requests …");
  const [before, queue, after] = [await bytesOfTable(service), await queueMonth(service), await bytesOfTable(service)];
  await testsMonth(service, UPLOADS_SAMPLE * (30 / 7));
  const bytes = {
    pullRequest: (after - before) / SAMPLE,
    upload: ((await bytesOfTable(service)) - after) / UPLOADS_SAMPLE,
  };
  const prices = readPrices();
  const months = [];
  for (const pullRequests of SIZES) {
    say(`the test results of ${pullRequests} …`);
    const tests = await testsMonth(service, pullRequests * PER_PULL_REQUEST.uploads);
    const used = unitsOf({ pullRequests, queue, tests, deployed: stacks, bytes });
    const name = pullRequests === 0 ? "idle" : `${pullRequests.toLocaleString("en")} merged`;
    months.push({ name, lines: bill(used, prices) });
    say(
      `  an upload reads ${tests.upload.reads.toFixed(0)} and writes ${tests.upload.writes.toFixed(0)} units, a look at all tests reads ${tests.judging.reads.toFixed(0)}`,
    );
  }
  const { requests, loop, scrape, idleSweep, sweepOfOne } = queue;
  process.stdout.write(
    `${tableOf(months)}\n\nPrices: ${prices.region}, ${prices.asOf}. A merged pull request: ${requests.count} requests ` +
      `(${requests.reads.toFixed(0)} units read, ${requests.writes.toFixed(0)} written), ${loop.advances.toFixed(1)} calls of ` +
      `advance-queue and ${loop.effects.toFixed(1)} effects (${loop.reads.toFixed(0)} read, ${loop.writes.toFixed(0)} written), ` +
      `${(bytes.pullRequest / 1024).toFixed(1)} KB kept. A sweep: ${idleSweep.reads} read, and ${sweepOfOne.reads.toFixed(1)} for each ` +
      `pull request in the queue; a scrape: ${scrape.reads}.\n`,
  );
} finally {
  await service.stop();
}
