/** The repository that is worked on: what its checks refuse, and pull requests of every kind. */
import { spawnSync } from "node:child_process";
import type { CommitSha } from "../../shared/kernel/ids.ts";
import { aRepository, config, type TestRepository } from "../support/git-repository.ts";

/** Refuses a folder of `failing` files, and any pair of which both halves are there. */
export const CHECK = `sleep "\${PACE:-0.1}"
[ ! -e failing ] || { echo "something failing is here"; exit 1; }
for pair in pairs/*; do
  [ ! -d "$pair" ] || [ "$(ls "$pair" | wc -l)" -lt 2 ] || { echo "$pair is complete"; exit 1; }
done
`;

export const CHECKS = { unit: "sh check.sh", lint: "! grep -rn FORBIDDEN src" };

/** What may fail together shares a target; numbers that end in the same digit do for good measure. */
export const TARGETS: Readonly<Record<string, readonly string[]>> = {
  failing: ["failing/**"],
  pairs: ["pairs/**"],
  text: ["text/**"],
  ...Object.fromEntries(
    Array.from({ length: 10 }, (_, digit) => [`src-${digit}`, [`src/*${digit}.txt`, `src/*${digit}-*.txt`]]),
  ),
};

/** The repository, whatever made it. */
export type Bare = Pick<TestRepository, "dir" | "key" | "git" | "tree">;

export type Sample = {
  readonly repo: Bare;
  /** Where the target began. */
  readonly start: CommitSha;
  /** Makes a new pull request and answers its number. What kind it is follows from the number. */
  readonly open: () => Promise<number>;
  /** Adds a commit to a pull request. */
  readonly push: (prNumber: number) => Promise<void>;
  /** Of those that were opened, oldest first. */
  readonly numbers: readonly number[];
  /** Somebody comments on a pull request, where that is possible. */
  readonly comment?: (prNumber: number, text: string) => Promise<void>;
  /** Moves the target by hand; undefined when somebody else was faster. */
  readonly pushTarget: () => CommitSha | undefined;
};

export function filesOf(number: number): Record<string, string> {
  const own = { [`src/${number}.txt`]: `${number}\n` };
  const tens = Math.floor(number / 10);
  switch (number % 10) {
    case 0:
      return { ...own, [`failing/${number}`]: "x\n" };
    case 1:
    case 2:
      return { ...own, [`pairs/${tens}/${number}`]: "x\n" };
    case 3:
    case 4:
      return { ...own, [`text/${tens}`]: `as ${number} wants it\n` };
    case 9:
      return { ...own, [`src/lint-${number}.txt`]: number % 20 === 9 ? "FORBIDDEN\n" : "allowed\n" };
    default:
      return own;
  }
}

export function aSample(folder: string): Sample {
  const repo = aRepository(folder, "acme/app");
  const start = repo.commit("main", {
    files: { "check.sh": CHECK, "src/0.txt": "0\n", ...config(CHECKS, undefined, TARGETS) },
    message: "The beginning",
  });
  const numbers: number[] = [];
  let pushes = 0;
  return {
    repo,
    start,
    numbers,
    open: async () => {
      const opened = numbers.length + 1;
      numbers.push(opened);
      repo.pullRequest(opened, { files: filesOf(opened), message: `Change ${opened}` });
      return opened;
    },
    push: async (prNumber) => {
      pushes += 1;
      const ref = `refs/pull/${prNumber}/head`;
      repo.pullRequest(prNumber, {
        on: repo.sha(ref),
        files: { [`src/${prNumber}-${pushes}.txt`]: "more\n" },
        message: `Change ${prNumber} again`,
      });
    },
    pushTarget: () => {
      pushes += 1;
      return pushByHand(repo, pushes);
    },
  };
}

/** As `git push` does it: on condition that the branch is where it was. */
export function pushByHand(
  repo: Pick<TestRepository, "dir" | "git" | "sha" | "commit">,
  number: number,
): CommitSha | undefined {
  const from = repo.sha("refs/heads/main");
  const files = { [`pushed/${number}`]: "by hand\n" };
  const made = repo.commit(`by-hand-${number}`, { on: from, files, message: `By hand ${number}` });
  repo.git("update-ref", "-d", `refs/heads/by-hand-${number}`);
  const moved = spawnSync("git", [`--git-dir=${repo.dir}`, "update-ref", "refs/heads/main", made, from]);
  return moved.status === 0 ? made : undefined;
}

/** Pull requests whose check never ends; a run of them ends by the timeout. */
export function aSlowSample(folder: string, count: number): TestRepository {
  const repo = aRepository(folder, "acme/slow");
  repo.commit("main", { files: { "a.txt": "a\n", ...config({ unit: "sleep 600" }) } });
  for (let number = 1; number <= count; number += 1)
    repo.pullRequest(number, { files: { [`${number}.txt`]: "x\n" }, message: `Slow ${number}` });
  return repo;
}
