/** The two addresses to which files are sent past the gateway, and what comes of them. */
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { PR } from "./bodies.ts";
import { type Check, codeOf, outcome, type Site, succeeded, told } from "./check.ts";

const form = z.object({ uploadId: z.string(), url: z.url(), fields: z.record(z.string(), z.string()) });
const announced = z.object({ id: z.string(), url: z.url() });
const upload = z.object({ state: z.string(), problem: z.string().nullable() });
const counted = z.object({ impactedTargets: z.number() });

/** The worker that reads bundles comes once a minute. */
const BUNDLE_MS_MAX = 150_000;

async function postForm({ url, fields }: z.infer<typeof form>, file: string): Promise<string> {
  const data = new FormData();
  for (const [name, value] of Object.entries(fields)) data.set(name, value);
  data.set("file", new Blob([file]), "targets.json");
  const answer = await fetch(url, { method: "POST", body: data });
  return answer.ok ? "" : `${answer.status} ${(await answer.text()).slice(0, 300)}`;
}

async function putFile(url: string, file: string): Promise<string> {
  const answer = await fetch(url, { method: "PUT", body: file });
  return answer.ok ? "" : `${answer.status} ${(await answer.text()).slice(0, 300)}`;
}

async function becameOf({ ask, scratch }: Site, id: string): Promise<z.infer<typeof upload>> {
  for (const until = performance.now() + BUNDLE_MS_MAX; ; await sleep(2_000)) {
    const found = upload.safeParse((await ask("/flaky-tests/get-upload", { repo: scratch.repo, upload_id: id })).json);
    if (found.data !== undefined && found.data.state !== "WAITING") return found.data;
    if (performance.now() > until) return { state: "WAITING", problem: null };
  }
}

export const doors: readonly Check[] = [
  {
    name: "targets through the side door: a form, then setImpactedTargets with its uploadId",
    run: async ({ ask }) => {
      const granted = await ask("/setImpactedTargets/upload", { pr: PR });
      const read = form.safeParse(granted.json);
      if (!read.success) return outcome("fail", `no form was granted: ${told(granted)}`);
      const refusal = await postForm(read.data, JSON.stringify(["//web:app", "//lib:strings"]));
      if (refusal !== "") return outcome("fail", `the form was refused: ${refusal}`);
      const set = await ask("/setImpactedTargets", { pr: PR, uploadId: read.data.uploadId });
      const count = counted.safeParse(set.json).data?.impactedTargets;
      return count === 2 ? succeeded(set) : outcome("fail", `what was uploaded is not taken: ${told(set)}`);
    },
  },
  {
    name: "a bundle of test results: announced, put, and looked at by its worker",
    run: async (site) => {
      const { repo } = site.scratch;
      const granted = await site.ask("/metrics/createBundleUpload", { repo, orgUrlSlug: site.org });
      if (codeOf(granted) === "ORGANIZATION_NOT_FOUND") return outcome("skip", "say the token's organization by --org");
      const read = announced.safeParse(granted.json);
      if (!read.success) return outcome("fail", `no address was given out: ${told(granted)}`);
      const refusal = await putFile(read.data.url, "not a bundle");
      if (refusal !== "") return outcome("fail", `the PUT was refused: ${refusal}`);
      const { state, problem } = await becameOf(site, read.data.id);
      // What was put is no bundle, and whoever read it says so.
      if (state === "FAILED") return outcome("pass", `200, read and refused as it should be: ${problem ?? ""}`);
      return outcome("fail", `it is ${state} after ${BUNDLE_MS_MAX / 1000} seconds: does read-bundles run?`);
    },
  },
];
