/** One line for each step: that it is well, or what is wrong and what to do. */
import { setTimeout as sleep } from "node:timers/promises";
import { oneLine } from "../local/cannot-start.ts";

export type Step = {
  readonly name: string;
  /** What to do where it fails. */
  readonly otherwise: string;
};

/** Nothing that follows makes sense. What has gone wrong is told already. */
export class Stopped extends Error {
  override readonly name = "Stopped";
}

export type Steps = {
  /** `work` answers what is to be said of its success, beside what the next steps need. */
  readonly step: <T>(of: Step, work: () => Promise<readonly [said: string, value: T]>) => Promise<T>;
  /** As a step; but what comes after it is done all the same. */
  readonly tidy: (of: Step, work: () => Promise<string>) => Promise<void>;
  readonly failed: () => number;
};

export function createSteps(print: (line: string) => void): Steps {
  let failed = 0;
  const fail = ({ name, otherwise }: Step, error: unknown): void => {
    failed += 1;
    print(`fail  ${name}: ${oneLine(error)} Do: ${otherwise}`);
  };
  return {
    step: async (of, work) => {
      try {
        const [said, value] = await work();
        print(`ok    ${of.name}: ${said}`);
        return value;
      } catch (error) {
        fail(of, error);
        throw new Stopped(of.name, { cause: error });
      }
    },
    tidy: async (of, work) => {
      try {
        print(`ok    ${of.name}: ${await work()}`);
      } catch (error) {
        fail(of, error);
      }
    },
    failed: () => failed,
  };
}

/** A failure in words; what was expected stands in them. */
export function expect(isRight: boolean, what: string): asserts isRight {
  if (!isRight) throw new Error(what.endsWith(".") ? what : `${what}.`);
}

/** Asks until the answer is there; `what` is told with the last answer when the time is over. */
export async function until<T>(
  read: () => Promise<T>,
  is: (value: T) => boolean,
  { ms, everyMs, what }: { readonly ms: number; readonly everyMs: number; readonly what: string },
): Promise<T> {
  for (const end = performance.now() + ms; ; await sleep(everyMs)) {
    const value = await read();
    if (is(value)) return value;
    expect(performance.now() < end, `${what}: ${JSON.stringify(value)} after ${Math.round(ms / 1000)} s`);
  }
}
