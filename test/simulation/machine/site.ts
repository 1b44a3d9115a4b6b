/** Where the service runs: processes that come and go, and who among them takes the next piece of work. */
import type { Wiring } from "../../../functions/wiring.ts";
import { SECOND_MS } from "../../../shared/kernel/time.ts";
import type { Random } from "../../crash/random.ts";
import { type Invocation, invoke, Life, type Outcome } from "./process.ts";
import type { Scheduler } from "./scheduler.ts";

/**
 * LAMBDAS: several processes side by side; one that dies takes a single piece of work along. SERVER: one process that
 * does everything; when it dies everything dies, and it comes back under its own name and takes up what it left.
 */
export type Deployment = "LAMBDAS" | "SERVER";

export type SiteParts = {
  readonly deployment: Deployment;
  readonly scheduler: Scheduler;
  readonly random: Random;
  /** `worker`: the name under which a server finds again what its earlier life left. */
  readonly wire: (life: Life, worker: string | undefined) => Wiring;
  readonly log: (line: string) => void;
};

const LAMBDAS = 3;

export class Site {
  deaths = 0;
  private readonly parts: SiteParts;
  private lives: Life[] = [];
  private made = 0;

  constructor(parts: SiteParts) {
    this.parts = parts;
    const count = parts.deployment === "SERVER" ? 1 : LAMBDAS;
    this.lives = Array.from({ length: count }, () => this.aLife());
  }

  private aLife(): Life {
    const worker = this.parts.deployment === "SERVER" ? "the-server" : undefined;
    return new Life(`life ${(this.made += 1)}`, (life) => this.parts.wire(life, worker));
  }

  /** Runs it in one of the processes; DIED also where none is there. A Lambda has so much time, a server all it takes. */
  async run<T>(what: string, msMax: number, work: () => Promise<T>): Promise<Outcome<T>> {
    const life = this.parts.random.pick(this.lives);
    if (life === undefined) return { kind: "DIED" };
    let own: Invocation | undefined;
    const isBounded = this.parts.deployment === "LAMBDAS";
    const stop = isBounded ? this.parts.scheduler.after(msMax, () => own?.die()) : () => {};
    const outcome = await invoke(life, what, work, (made) => {
      own = made;
    });
    stop();
    if (outcome.kind === "DIED") this.died(life, what);
    return outcome;
  }

  private died(life: Life, what: string): void {
    const { deployment, log, scheduler, random } = this.parts;
    if (life.isOver) return;
    this.deaths += 1;
    log(`${life.name} died: ${what}`);
    if (deployment === "LAMBDAS") return;
    life.end();
    this.lives = [];
    scheduler.after(random.int(1, 20) * SECOND_MS, () => {
      this.lives = [this.aLife()];
    });
  }
}
