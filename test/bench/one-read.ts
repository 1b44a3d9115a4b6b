/** One getSubmittedPullRequest through everything, against the bare GetItem of the same entry. */
import { GetCommand } from "@aws-sdk/lib-dynamodb";
import { keys } from "../../shared/table/keys.ts";
import { ms, promised, type Row, stated, times } from "./report.ts";
import { type BenchService, requestOf } from "./service.ts";
import { interleaved, median, quantile } from "./timing.ts";

const RATIO_MAX = 2;

export async function oneRead(service: BenchService): Promise<readonly Row[]> {
  const { table, client, app } = service;
  const key = await service.queue(10);
  const asked = { ...requestOf(key), pr: { number: 7 } };
  const bare = new GetCommand({ TableName: table.name, Key: keys.entry(key, 7), ConsistentRead: true });

  const taken = await interleaved(
    {
      http: () => client.post("/getSubmittedPullRequest", asked),
      get: () => table.client.send(bare),
      status: () => client.send("/status", { method: "GET" }),
      store: () => app.queues.submissions(key, [7]),
      authorize: () => service.authorize(service.token),
    },
    { rounds: 800, warmUp: 400 },
  );
  const [http, get, status] = [median(taken("http")), median(taken("get")), median(taken("status"))];
  const [store, authorize] = [median(taken("store")), median(taken("authorize"))];
  const ratio = http / get;
  const p95 = quantile(taken("http"), 0.95) / quantile(taken("get"), 0.95);
  return [
    promised(
      "read",
      "getSubmittedPullRequest over HTTP : bare GetItem, medians",
      `${times(ratio)} (${ms(http)} : ${ms(get)})`,
      { goal: `at most ${RATIO_MAX}x`, holds: ratio <= RATIO_MAX },
      { ratio, httpMs: http, getItemMs: get },
    ),
    stated("read", "  the same at the 95th percentile", times(p95), { ratio: p95 }),
    stated("read", "  of it: gateway and endpoint (GET /status); the use case's read", `${ms(status)}; ${ms(store)}`, {
      statusMs: status,
      storeMs: store,
    }),
    stated("read", "  once a minute on top: the authorizer, when its answer is not cached", ms(authorize), {
      authorizeMs: authorize,
    }),
  ];
}
