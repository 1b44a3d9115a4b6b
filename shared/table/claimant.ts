/**
 * Who claims work for a while. A worker has one life at a time: the server of a data folder, which holds its lock.
 * So whatever an earlier life claimed and never finished is free at once, and nobody waits for its time to run out.
 */
import { randomUUID } from "node:crypto";

export type Claimant = {
  /** A new name for one claim of this life. */
  readonly owner: () => string;
  /** Condition, over the attribute that holds the owner: it was claimed by an earlier life of this worker. */
  readonly leftBehind: (attribute: string) => string;
  readonly values: Readonly<Record<string, string>>;
  readonly hasLeftBehind: (owner: string | undefined) => boolean;
};

/** Without a worker's name nothing is ever left behind: Lambdas live side by side. */
export function claimant(worker: string = randomUUID()): Claimant {
  const lives = `${worker}/`;
  const life = `${lives}${randomUUID()}/`;
  return {
    owner: () => `${life}${randomUUID()}`,
    leftBehind: (attribute) => `(begins_with(${attribute}, :lives) AND NOT begins_with(${attribute}, :life))`,
    values: { ":lives": lives, ":life": life },
    hasLeftBehind: (owner) => owner !== undefined && owner.startsWith(lives) && !owner.startsWith(life),
  };
}
