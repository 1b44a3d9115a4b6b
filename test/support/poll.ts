/** Matchers on what will be so when the time has passed, for scenes that pass it by themselves. */
import { expect } from "vitest";
import type { Until } from "./eventually.ts";

type Matchers = Pick<
  ReturnType<typeof expect.poll>,
  "toBe" | "toEqual" | "toContain" | "toMatch" | "toMatchObject" | "toBeDefined" | "toBeUndefined" | "toHaveLength"
>;
export type Poll = <T>(read: () => Promise<T> | T) => Matchers & { readonly not: Matchers };

const assertion: (value: unknown) => ReturnType<typeof expect<unknown>> = expect;

/** Fails as the matcher does that never held. */
export const pollBy =
  (until: Until): Poll =>
  (read) => {
    const matcher =
      (isNot: boolean, name: keyof Matchers) =>
      async (...expected: readonly unknown[]): Promise<void> => {
        let failure: unknown;
        const holds = (value: unknown): boolean => {
          const all = assertion(value);
          try {
            // Safe: `name` is a matcher, and `expected` what the caller's types say it takes.
            ((isNot ? all.not : all)[name] as (...given: readonly unknown[]) => void)(...expected);
            return true;
          } catch (error) {
            failure = error;
            return false;
          }
        };
        await until(read, holds).catch((error: unknown) => {
          throw failure ?? error;
        });
      };
    const matchers = (isNot: boolean): Matchers => ({
      toBe: matcher(isNot, "toBe"),
      toEqual: matcher(isNot, "toEqual"),
      toContain: matcher(isNot, "toContain"),
      toMatch: matcher(isNot, "toMatch"),
      toMatchObject: matcher(isNot, "toMatchObject"),
      toBeDefined: matcher(isNot, "toBeDefined"),
      toBeUndefined: matcher(isNot, "toBeUndefined"),
      toHaveLength: matcher(isNot, "toHaveLength"),
    });
    return { ...matchers(false), not: matchers(true) };
  };
