/** The service, put together as it is deployed: its functions, its stream, its schedule, its table, its code host. */
import type { DynamoDBBatchResponse, DynamoDBStreamEvent } from "aws-lambda";
import { handler as advanceQueue } from "../../../functions/workers/advance-queue.ts";
import { handler as runEffects } from "../../../functions/workers/run-effects.ts";
import { handler as sweep } from "../../../functions/workers/sweep.ts";
import { useWiring, type Wiring, wired } from "../../../functions/wiring.ts";
import type { CodeHost } from "../../../shared/code-host/port.ts";
import type { OrgSlug, RepoKey } from "../../../shared/kernel/ids.ts";
import type { Log } from "../../../shared/kernel/log.ts";
import { MINUTE_MS } from "../../../shared/kernel/time.ts";
import { reportChecks, reportRefs } from "../../../shared/queue/app/news.ts";
import type { CrashPoint, QueueStore } from "../../../shared/queue/app/ports.ts";
import type { Random } from "../../crash/random.ts";
import type { HostNews } from "../host/world.ts";
import { Deliveries, type StreamWorker } from "./deliveries.ts";
import type { Faults } from "./faults.ts";
import { invocation, type Life, presentWiring } from "./process.ts";
import type { Scheduler } from "./scheduler.ts";
import { type Deployment, Site } from "./site.ts";
import { type TableWorld, unreliableTable } from "./table.ts";
import { virtualUuid } from "./virtual.ts";
import type { Written } from "./written.ts";

export type ServiceParts = {
  readonly deployment: Deployment;
  readonly scheduler: Scheduler;
  readonly faults: Faults;
  readonly randomFor: (purpose: string) => Random;
  readonly table: Pick<TableWorld, "endpoint" | "name" | "weather">;
  readonly host: CodeHost;
  readonly org: OrgSlug;
  readonly repo: RepoKey;
  readonly log: Log;
  readonly say: (line: string) => void;
  /** Looks on while the queue is stored. */
  readonly watch: (queues: QueueStore) => QueueStore;
  readonly written: (what: Written) => void;
};

const WORKER_MS_MAX = 15 * MINUTE_MS;
const SWEEP_EVERY_MS = MINUTE_MS;

const WORKERS: readonly StreamWorker[] = [
  { name: "advance-queue", skPrefix: "4#INBOX#", handler: advanceQueue },
  { name: "run-effects", skPrefix: "5#EFFECT#", handler: runEffects },
];

export class Service {
  readonly site: Site;
  private readonly parts: ServiceParts;
  private readonly deliveries: Deliveries;
  private readonly random: Random;
  private readonly ids: Random;
  private readonly network: Random;
  private readonly blobs = new Map<string, Uint8Array>();

  constructor(parts: ServiceParts) {
    this.parts = parts;
    const { scheduler, faults, deployment, randomFor, say } = parts;
    this.random = randomFor("news and sweeps");
    this.ids = randomFor("ids");
    this.network = randomFor("network");
    this.deliveries = new Deliveries(WORKERS, {
      scheduler,
      faults,
      random: randomFor("stream"),
      run: (worker, event) => this.work(worker, event),
    });
    const wire = (_: Life, worker: string | undefined): Wiring => this.wire(worker);
    this.site = new Site({ deployment, scheduler, random: randomFor("site"), wire, log: say });
    useWiring(presentWiring);
  }

  private wire(worker: string | undefined): Wiring {
    const { scheduler, faults, log, host, org, repo } = this.parts;
    const table = unreliableTable({
      ...this.parts.table,
      scheduler,
      faults,
      random: this.network,
      written: (what) => {
        this.deliveries.written(what);
        this.parts.written(what);
      },
    });
    const wiring = wired({
      table,
      log,
      blobs: {
        put: async (key, bytes) => {
          this.blobs.set(key, bytes);
        },
        get: async (key) => this.blobs.get(key),
      },
      uploads: {
        grantUpload: async () => ({ url: "https://uploads.local/", fields: {} }),
        readUpload: async () => undefined,
        grantPut: async () => "",
        removeUpload: async () => {},
      },
      hosts: (asking, name) => (asking === org && name === repo.host ? host : undefined),
      ...(worker === undefined ? {} : { worker }),
    });
    return {
      ...wiring,
      clock: scheduler.now,
      newId: () => virtualUuid(this.ids.next),
      passing: (point) => this.pass(point),
      queues: this.parts.watch(wiring.queues),
    };
  }

  /** Where the code itself says that it could die. What follows is never heard of. */
  private pass(point: CrashPoint): void {
    const own = invocation();
    if (own === undefined || own.isDead || !this.parts.faults.happens("process: death at a point")) return;
    this.parts.say(`dies at ${point}: ${own.what}`);
    own.die();
  }

  private work(worker: StreamWorker, event: DynamoDBStreamEvent) {
    return this.site.run<DynamoDBBatchResponse>(worker.name, WORKER_MS_MAX, () => worker.handler(event));
  }

  /** Once a minute, for ever. */
  start(): void {
    const { scheduler, faults } = this.parts;
    const next = (): void => {
      const times = faults.happens("sweep: left out") ? 0 : faults.happens("sweep: doubled") ? 2 : 1;
      for (let time = 0; time < times; time += 1)
        scheduler.after(time * this.random.int(0, 2_000), () => void this.site.run("sweep", WORKER_MS_MAX, sweep));
      scheduler.after(SWEEP_EVERY_MS, next);
    };
    scheduler.after(SWEEP_EVERY_MS, next);
  }

  /** The host tells of something: perhaps. */
  hear(news: HostNews): void {
    const { scheduler, faults } = this.parts;
    if (faults.happens("news: lost")) return;
    const copies = faults.happens("news: doubled") ? 2 : 1;
    for (let copy = 0; copy < copies; copy += 1) {
      const delay = faults.happens("news: late") ? this.random.int(5_000, 300_000) : this.random.int(50, 1_500);
      scheduler.after(delay, () => void this.report(news));
    }
  }

  private report(news: HostNews) {
    const { org, repo } = this.parts;
    const bring = (): Promise<void> =>
      news.kind === "CHECKS"
        ? reportChecks(presentWiring, org, repo, news.run)
        : reportRefs(presentWiring, org, repo, { prNumbers: news.prNumbers, branches: news.branches });
    return this.site.run("webhook", WORKER_MS_MAX, bring);
  }
}
