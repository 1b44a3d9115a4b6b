/** The code hosts on which the crash test is played. */
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { CRASH_POINTS, type CrashPoint, PEOPLE_CRASH_POINTS } from "../../shared/queue/app/ports.ts";
import { aSample, aSlowSample, type Bare, type Sample } from "./sample.ts";
import { onTwin } from "./twin.ts";

export type HostName = "git" | "github";
export const isHost = (name: string): name is HostName => name === "git" || name === "github";

const isOfGit = (point: CrashPoint): boolean => point.startsWith("host:");

/** Where a server can be told to end. The git host has points of its own; on GitHub there are people. */
export const POINTS: Readonly<Record<HostName, readonly CrashPoint[]>> = {
  git: CRASH_POINTS,
  github: [...CRASH_POINTS.filter((point) => !isOfGit(point)), ...PEOPLE_CRASH_POINTS],
};

export type CrashHost = {
  /** Further arguments of `npm start`. */
  readonly args: readonly string[];
  readonly sample: Sample;
  /** A repository whose checks never end, and the token for it if it is not the admin's. */
  readonly slow: (count: number) => Promise<{ readonly repo: Bare; readonly token: (() => string) | undefined }>;
  /** A server answers at this address. */
  readonly isUp: (url: string) => void;
  /** Once, at the first server that answers. */
  readonly connect: () => Promise<void>;
  /** What is left on the host of work that is done. */
  readonly left: () => readonly string[];
  readonly stop: () => Promise<void>;
};

export const hostOf = (name: HostName, folder: string, data: string): Promise<CrashHost> => {
  mkdirSync(data);
  return name === "github" ? onTwin(folder, data) : onGit(folder, data);
};

async function onGit(folder: string, data: string): Promise<CrashHost> {
  const [repositories, slow] = [join(folder, "repositories"), join(folder, "slow")];
  for (const made of [repositories, slow]) mkdirSync(made);
  return {
    args: ["--repositories", repositories, "--repositories", `slow=${slow}`],
    sample: aSample(repositories),
    slow: async (count) => {
      const token = mintToken(data);
      return { repo: aSlowSample(slow, count), token: () => token };
    },
    isUp: () => {},
    connect: async () => {},
    left: () => [],
    stop: async () => {},
  };
}

/** For an organization of its own: its checks then wait in a line of their own. */
function mintToken(data: string): string {
  const args = ["create", "--org", "slow", "--scopes", "read,submit,admin", "--data", data];
  const said = execFileSync(process.execPath, ["infra/admin/token.ts", ...args], { encoding: "utf8", stdio: "pipe" });
  return said.trim().split("\n").at(-1) ?? "";
}
