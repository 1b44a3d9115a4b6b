/** Programs that the demo runs itself: its authors' git, and the checks of its proof. Never the service's own code. */
import { execFile } from "node:child_process";

export type Ran = { readonly ok: boolean; readonly out: string };

export type Person = { readonly name: string; readonly email: string };

/** Nothing of this user's git configuration counts, and none is needed: an identity comes with each call. */
const environment = (person: Person): NodeJS.ProcessEnv => ({
  PATH: process.env["PATH"],
  LC_ALL: "C",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_TERMINAL_PROMPT: "0",
  GIT_EDITOR: "true",
  GIT_AUTHOR_NAME: person.name,
  GIT_AUTHOR_EMAIL: person.email,
  GIT_COMMITTER_NAME: person.name,
  GIT_COMMITTER_EMAIL: person.email,
});

const NOBODY: Person = { name: "Demo", email: "demo@example.com" };

/** Not the synchronous kind: the server runs in this process. */
export function run(file: string, args: readonly string[], cwd: string, person: Person = NOBODY): Promise<Ran> {
  return new Promise((resolve) => {
    execFile(file, [...args], { cwd, env: environment(person), timeout: 60_000 }, (error, stdout, stderr) =>
      resolve({ ok: error === null, out: `${stdout}${stderr}`.trimEnd() }),
    );
  });
}

/** A git that has to succeed; answers what it says. */
export async function git(cwd: string, args: readonly string[], person?: Person): Promise<string> {
  const ran = await run("git", args, cwd, person);
  if (!ran.ok) throw new Error(`git ${args.join(" ")} failed: ${ran.out}`);
  return ran.out;
}
