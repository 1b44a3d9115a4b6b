/**
 * The twin as a process of its own, for programs that may not import it: one line of JSON each way.
 *
 *     node test/support/github/serve.ts <folder>
 *     > {"url":"http://127.0.0.1:…","app":{…}}                                    first, where it is
 *     < {"id":1,"call":"openPullRequest","with":["acme/app",{"head":"f","base":"main"}]}
 *     > {"id":1,"answer":1}                                                       or {"id":1,"error":"…"}
 *     > {"pushed":{"repository":"acme/app","branch":"main","sha":"…"}}            whenever a branch moves
 *     > {"rerun":{"repository":"acme/app","sha":"…","names":["unit"]}}            and as onRerun and onCancel tell
 *     > {"cancelled":{"repository":"acme/app","sha":"…"}}
 *
 * What is no verb, as `lies`, is answered as it is. It ends with its input.
 */
import { createInterface } from "node:readline";
import { LIMITLESS } from "./http/limits.ts";
import { startGitHubTwin } from "./twin.ts";

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error("say in which folder its repositories are to be made");

const github = await startGitHubTwin({ folder });
github.limits.limit = LIMITLESS;
const say = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`);
const { appId, slug, privateKey, webhookSecret } = github.app;
say({ url: github.url, app: { appId, slug, privateKey, webhookSecret } });
github.onPush((pushed) => say({ pushed }));
github.onRerun((rerun) => say({ rerun }));
github.onCancel((cancelled) => say({ cancelled }));

type Asked = { readonly id: number; readonly call: string; readonly with: readonly unknown[] };

async function answer({ id, call, with: given }: Asked): Promise<void> {
  const verb: unknown = new Map<string, unknown>(Object.entries(github)).get(call);
  try {
    if (verb === undefined) throw new Error(`the twin knows no ${call}`);
    const answered: unknown = typeof verb === "function" ? await verb(...given) : verb;
    say({ id, answer: answered ?? null });
  } catch (error) {
    say({ id, error: error instanceof Error ? error.message : String(error) });
  }
}

for await (const line of createInterface({ input: process.stdin })) void answer(JSON.parse(line) as Asked);
await github.stop();
