/** All checks in their order, each told in one line as it ends. */
import { oneLine } from "../local/cannot-start.ts";
import type { SmokeArguments } from "./arguments.ts";
import { bodies } from "./bodies.ts";
import { type Check, outcome, type Outcome, type Site, type Verdict } from "./check.ts";
import { doors } from "./doors.ts";
import { send } from "./http.ts";
import { open, tokens } from "./open.ts";
import { paths } from "./paths.ts";
import { aScratch, creation, removal, uses } from "./queue.ts";
import { windows } from "./windows.ts";

export type Told = (verdict: Verdict, name: string, said: string) => void;

function siteOf(given: SmokeArguments): Site {
  const scratch = aScratch();
  const sends: Site["send"] = (path, sent = {}) => send(`${given.url}${path}`, sent);
  const ask: Site["ask"] = (path, fields = {}, headers = {}) =>
    sends(path, {
      headers: { "content-type": "application/json", "x-api-token": given.token, ...headers },
      body: JSON.stringify({ ...scratch, ...fields }),
    });
  return { ...given, scratch, send: sends, ask };
}

async function ran(check: Check, site: Site): Promise<Outcome> {
  try {
    return await check.run(site);
  } catch (error) {
    return outcome("fail", `no answer: ${oneLine(error)}`);
  }
}

/** Answers how many failed. */
export async function smoke(given: SmokeArguments, say: (line: string) => void, told: Told): Promise<number> {
  const site = siteOf(given);
  let failed = 0;
  const run = async (check: Check): Promise<Outcome> => {
    const { verdict, said } = await ran(check, site);
    if (verdict === "fail") failed += 1;
    told(verdict, check.name, said);
    return { verdict, said };
  };
  const { repo, targetBranch } = site.scratch;
  say(
    `${given.url}, judged as ${given.where === "local" ? "a server on one machine" : "what stands behind a gateway"}.`,
  );
  say(
    `This makes a queue for ${repo.host}/${repo.owner}/${repo.name}, branch ${targetBranch}, and deletes it at the end.`,
  );
  say("What stays is the record of one cancelled pull request and of one upload with one test that passed.");
  for (const check of [...open, ...tokens]) await run(check);
  try {
    const made = await run(creation);
    if (made.verdict === "pass")
      for (const check of [...uses, ...windows, ...paths, ...bodies, ...doors]) await run(check);
  } finally {
    await run(removal);
  }
  return failed;
}
