/**
 * Lives of the service, and what runs in them. An invocation that dies never comes back: nothing it still does reaches
 * the table, the host or whoever called, however its code goes on. So no code can mistake a death for a failure.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { Wiring } from "../../../functions/wiring.ts";
import type { Faults } from "./faults.ts";

export class Life {
  readonly name: string;
  readonly app: Wiring;
  readonly running = new Set<Invocation>();
  isOver = false;

  constructor(name: string, wire: (life: Life) => Wiring) {
    this.name = name;
    this.app = wire(this);
  }

  /** The process itself goes, and everything in it. */
  end(): void {
    this.isOver = true;
    for (const invocation of this.running) invocation.die();
  }
}

export class Invocation {
  readonly life: Life;
  readonly what: string;
  readonly died: Promise<{ readonly kind: "DIED" }>;
  isDead = false;
  /** What the judges note about the work under way. */
  readonly notes = new Map<string, unknown>();
  private readonly bury: (outcome: { readonly kind: "DIED" }) => void;

  constructor(life: Life, what: string) {
    this.life = life;
    this.what = what;
    const { promise, resolve } = Promise.withResolvers<{ readonly kind: "DIED" }>();
    this.died = promise;
    this.bury = resolve;
  }

  die(): void {
    this.isDead = true;
    this.bury({ kind: "DIED" });
  }
}

export type Outcome<T> =
  | { readonly kind: "ANSWERED"; readonly value: T }
  | { readonly kind: "THREW"; readonly error: unknown }
  | { readonly kind: "DIED" };

const present = new AsyncLocalStorage<Invocation>();

/** The invocation in whose code we are; undefined in the simulation's own. */
export const invocation = (): Invocation | undefined => present.getStore();

/** For whoever is dead there is nothing after this. */
export const unlessDead = async (): Promise<void> =>
  invocation()?.isDead === true ? new Promise(() => {}) : undefined;

/** Between two steps: perhaps there is no second one. */
export function mayDie(faults: Faults): Promise<void> {
  const own = invocation();
  if (own !== undefined && !own.isDead && faults.happens("process: death at a call")) own.die();
  return unlessDead();
}

export async function invoke<T>(
  life: Life,
  what: string,
  work: () => Promise<T>,
  begun: (own: Invocation) => void,
): Promise<Outcome<T>> {
  const own = new Invocation(life, what);
  if (life.isOver) return { kind: "DIED" };
  life.running.add(own);
  begun(own);
  const done = present.run(own, async (): Promise<Outcome<T>> => {
    try {
      return { kind: "ANSWERED", value: await work() };
    } catch (error) {
      return { kind: "THREW", error };
    }
  });
  const outcome = await Promise.race([done, own.died]);
  life.running.delete(own);
  // Nothing that it left behind goes on after it has answered, either.
  own.isDead = true;
  return outcome;
}

/** The wiring of whichever life the present code runs in: what the functions find when they ask for theirs. */
export const presentWiring: Wiring = new Proxy({} as Wiring, {
  get: (_, name) => {
    const own = invocation();
    if (own === undefined) throw new Error("the service's code ran outside of an invocation");
    return Reflect.get(own.life.app, name);
  },
});
