/** Everybody at once, each in his own rhythm. */
import type { Random } from "../../crash/random.ts";
import { exponential } from "../machine/random.ts";
import { MINUTE_MS } from "../../../shared/kernel/time.ts";
import { headOf } from "../host/content.ts";
import { changeOf, type HostPr } from "../host/pull-requests.ts";
import type { Plot } from "../plot.ts";
import type { World } from "../world.ts";
import { meddle, moveTarget, open } from "./authors.ts";
import type { Caller } from "./caller.ts";
import { act, type ClientParts, type Ref, setTargets, submit } from "./clients.ts";
import { brake, change, KNOBS } from "./operator.ts";
import { intrude, type Strangers } from "./strangers.ts";

export type People = Strangers & { readonly admin: Caller; readonly client: Caller };

/** Answers what ends it: nobody begins anything new, and what was begun comes to its end. */
export function traffic(world: World, people: People, ref: Ref, { everyMs, settings }: Plot): () => Promise<void> {
  const { scheduler, book, host } = world;
  let isOver = false;
  const underWay = new Set<Promise<void>>();
  const numbers: number[] = [];

  const begin = (work: Promise<void>): void => {
    const watched = work
      .catch((error: unknown) =>
        book.problem(`the simulation itself failed: ${error instanceof Error ? error.stack : String(error)}`),
      )
      .finally(() => underWay.delete(watched));
    underWay.add(watched);
  };
  const repeatedly = (mean: number, work: (random: Random) => Promise<void>, purpose: string): void => {
    const random = world.random(purpose);
    if (!Number.isFinite(mean)) return;
    const next = (): void => {
      if (isOver) return;
      begin(work(random));
      scheduler.after(exponential(random, mean), next);
    };
    scheduler.after(exponential(random, mean), next);
  };
  const client = (random: Random): ClientParts => ({
    caller: people.client,
    random,
    host,
    ref,
    numbers: () => numbers,
  });

  const arrive = async (random: Random): Promise<void> => {
    const number = numbers.length + 1;
    numbers.push(number);
    const pr = open(host, number, random);
    if (settings["directMergeMode"] === "always" && random.chance(0.5)) await untilGreen(pr);
    if (random.chance(0.7)) await setTargets(client(random), number);
    await submit(client(random), number);
    if (random.chance(0.4)) await setTargets(client(random), number);
  };
  /** Some wait for the checks of the pull request itself, and rebase it once if the target has moved on. */
  const untilGreen = async (pr: HostPr): Promise<void> => {
    for (const attempt of [1, 2]) {
      await scheduler.sleep(5 * MINUTE_MS);
      const isUpToDate = host.byHead(headOf(changeOf(pr)))?.base.join() === host.target.content?.join();
      if (isUpToDate || isOver || attempt === 2) return;
      host.push(pr);
      host.truth.touch(changeOf(pr), [...(host.truth.areasOf(`${pr.number}@${pr.version - 1}`) ?? [])]);
      host.headIsPushed(pr);
    }
  };
  const one = (random: Random) => host.prs.get(Math.max(1, numbers.length - random.int(0, 9)));

  begin(people.admin.sure("create-queue", { ...ref, ...settings }).then(() => {}));
  repeatedly(everyMs.arrival, arrive, "arrivals");
  repeatedly(everyMs.act, (random) => act(client(random)), "acts");
  repeatedly(
    everyMs.meddle,
    async (random) => {
      const pr = one(random);
      if (pr !== undefined) meddle(host, pr, random, book);
    },
    "meddling",
  );
  repeatedly(everyMs.moveTarget, async (random) => moveTarget(host, random, book), "target");
  repeatedly(everyMs.change, (random) => change(people.admin, ref, random, KNOBS), "settings");
  repeatedly(everyMs.brake, (random) => brake(people.admin, ref, random, scheduler.sleep), "brakes");
  repeatedly(everyMs.intrude, (random) => intrude(people, ref, random, book), "strangers");

  return async () => {
    isOver = true;
    let isQuiet = false;
    const quiet = Promise.all(underWay).then(() => {
      isQuiet = true;
    });
    await scheduler.run(3_600_000, () => isQuiet);
    if (scheduler.isStopped) return;
    if (!isQuiet) book.problem("somebody never got an answer");
    else await quiet;
  };
}
