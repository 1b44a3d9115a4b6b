/** Test health over HTTP in one-word verbs. Holds no assertions: a verb throws when it is refused, `sends` answers. */
import type * as z from "zod";
import { healthSettings, testDetails } from "../../shared/schemas/test-details.ts";
import { failingTests, unhealthyTests } from "../../shared/schemas/test-health.ts";
import { uploadAnswer } from "../../shared/schemas/test-uploads.ts";
import { HOUR_MS } from "../../shared/kernel/time.ts";
import type { Called } from "./server.ts";
import { type Asks, type Fields, shown } from "./service.ts";

export type FailingTest = z.output<typeof failingTests>["tests"][number];
export type FailingPage = z.output<typeof failingTests>;
export type UnhealthyPage = z.output<typeof unhealthyTests>;

/** By name: "." passed, "F" failed, "R" failed and then passed, "S" skipped; or what a failure says. */
export type Outcomes = Readonly<Record<string, string>>;

const FAILURES: Readonly<Record<string, string>> = { F: "it broke", R: "it broke" };

export function junit(outcomes: Outcomes): string {
  const cases = Object.entries(outcomes).flatMap(([name, outcome]) => {
    const of = (inside = ""): string => `<testcase classname="shop.Cart" name="${name}">${inside}</testcase>`;
    if (outcome === ".") return [of()];
    if (outcome === "S") return [of("<skipped/>")];
    const failed = of(`<failure type="Error" message="${FAILURES[outcome] ?? outcome}"/>`);
    return outcome === "R" ? [failed, of()] : [failed];
  });
  return `<?xml version="1.0"?>\n<testsuites><testsuite name="cart" file="src/cart.test.ts">${cases.join("")}</testsuite></testsuites>`;
}

type RunFact = string | number | undefined;
/** In place of usual ones; undefined leaves one out. */
export type RunFacts = Readonly<Record<string, RunFact>>;

export type HealthClient = {
  /** What names the repository in every request. */
  readonly at: { readonly repo: Fields; readonly org_url_slug: string };
  readonly asks: (path: string, fields?: Fields) => Promise<Called>;
  /** A file as it is, with these facts in its query, whatever comes of it. */
  readonly sends: (
    file: string | Uint8Array<ArrayBuffer>,
    facts?: RunFacts,
    headers?: Record<string, string>,
  ) => Promise<Called>;
  readonly uploads: (outcomes: Outcomes, facts?: RunFacts) => Promise<z.output<typeof uploadAnswer>>;
  /** Of the last hour and the next, unless another window is named. */
  readonly failing: (more?: Fields) => Promise<FailingPage>;
  readonly unhealthy: (more?: Fields) => Promise<UnhealthyPage>;
  readonly quarantined: (more?: Fields) => Promise<UnhealthyPage>;
  /** The failing test of that name. */
  readonly test: (name: string) => Promise<FailingTest>;
  readonly details: (id: string) => Promise<z.output<typeof testDetails>>;
  readonly settings: (change?: Fields) => Promise<z.output<typeof healthSettings>>;
};

export const sha = (letter: string): string => letter.repeat(40);

const around = (): Fields => ({
  start_time: new Date(Date.now() - HOUR_MS).toISOString(),
  end_time: new Date(Date.now() + HOUR_MS).toISOString(),
});

export function healthClient(asks: Asks, token: string, name: string, org = "local"): HealthClient {
  const at = { repo: { host: "git.local", owner: "acme", name }, org_url_slug: org };
  const ask: HealthClient["asks"] = (path, fields = {}) => asks(`/flaky-tests/${path}`, { ...at, ...fields });
  const sends: HealthClient["sends"] = (file, facts = {}, headers = {}) => {
    const all = { repo: `acme/${name}`, repoHost: "git.local", sha: sha("a"), branch: "main", job: "unit", ...facts };
    const query = new URLSearchParams();
    for (const [key, value] of Object.entries<RunFact>(all)) if (value !== undefined) query.set(key, `${value}`);
    return asks(`/flaky-tests/upload-test-results?${query.toString()}`, undefined, {
      body: file,
      headers: { "x-api-token": token, "content-type": "application/xml", ...headers },
    });
  };
  const failing: HealthClient["failing"] = async (more) =>
    shown(failingTests, await ask("list-failing-tests", { ...around(), ...more }));
  return {
    at,
    asks: ask,
    sends,
    uploads: async (outcomes, facts) => shown(uploadAnswer, await sends(junit(outcomes), facts)),
    failing,
    unhealthy: async (more) => shown(unhealthyTests, await ask("list-unhealthy-tests", more)),
    quarantined: async (more) => shown(unhealthyTests, await ask("list-quarantined-tests", more)),
    test: async (wanted) => {
      const found = (await failing({ page_query: { page_size: 100 } })).tests.find((one) => one.name === wanted);
      if (found === undefined) throw new Error(`${wanted} does not fail`);
      return found;
    },
    details: async (id) => shown(testDetails, await ask("get-test-details", { test_id: id })),
    settings: async (change) =>
      shown(healthSettings, change === undefined ? await ask("get-settings") : await ask("update-settings", change)),
  };
}
