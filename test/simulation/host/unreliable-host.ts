/** The host as the service meets it: answers take their time, get lost, or never come. */
import { type CodeHost, HostUnavailable } from "../../../shared/code-host/port.ts";
import type { Random } from "../../crash/random.ts";
import type { Faults } from "../machine/faults.ts";
import { mayDie } from "../machine/process.ts";
import type { Scheduler } from "../machine/scheduler.ts";

export type HostWeather = { outUntil: number };

export type Road = {
  readonly scheduler: Scheduler;
  readonly faults: Faults;
  readonly random: Random;
  readonly weather: HostWeather;
};

const MINUTE_MS = 60_000;

export function unreliableHost(port: CodeHost, world: Road): CodeHost {
  const { scheduler, faults, random, weather } = world;

  const travel = async (): Promise<void> => {
    if (faults.happens("host: hangs")) await scheduler.sleep(random.int(2 * MINUTE_MS, 5 * MINUTE_MS));
    else if (faults.happens("host: slow")) await scheduler.sleep(random.int(2_500, 30_000));
    else await scheduler.sleep(random.int(20, 400));
    await mayDie(faults);
  };

  const isOut = (): boolean => {
    if (faults.happens("host: outage")) weather.outUntil = scheduler.now() + random.int(1, 12) * MINUTE_MS;
    return scheduler.now() < weather.outUntil || faults.happens("host: unreachable");
  };

  const through =
    <Args extends readonly unknown[], Answer>(ask: (...args: Args) => Promise<Answer>) =>
    async (...args: Args): Promise<Answer> => {
      await travel();
      if (isOut()) throw new HostUnavailable("simulated: no connection");
      const answer = await ask(...args);
      await travel();
      if (faults.happens("host: answer lost")) throw new HostUnavailable("simulated: the answer was lost");
      return answer;
    };

  return {
    pullRequest: through(port.pullRequest),
    tip: through(port.tip),
    impactedTargets: through(port.impactedTargets),
    buildRun: through(port.buildRun),
    repeatChecks: through(port.repeatChecks),
    statuses: through(port.statuses),
    closeRun: through(port.closeRun),
    land: through(port.land),
  };
}
