/** An App without the right to workflows cannot bring commits that change them to a branch. */
import { allows } from "../auth/tokens.ts";
import { Refusal, type RepositoryCall } from "../http/call.ts";

/** Only what no branch and no pull request holds yet counts as brought by the App. */
export async function requireWorkflows({ repo, actor }: RepositoryCall, sha: string): Promise<void> {
  if (actor.kind === "APP") return;
  const held = [actor.token.permissions, actor.installation.permissions];
  if (held.every((one) => allows(one, "workflows", "write"))) return;
  const out = await repo.git.must([
    "log",
    "--format=",
    "--name-only",
    "--no-merges",
    sha,
    "--not",
    "--branches",
    "--tags",
    "--glob=refs/pull/*",
    "--",
    ".github/workflows",
  ]);
  const [path] = out.split("\n").filter(Boolean);
  if (path === undefined) return;
  const message = `refusing to allow a GitHub App to create or update workflow \`${path}\` without \`workflows\` permission`;
  throw new Refusal(403, message);
}
