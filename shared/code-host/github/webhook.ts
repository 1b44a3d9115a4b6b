/**
 * What a webhook hints at: whose it is, and which pull requests, branches and runs are worth a look. Nothing of what it
 * says is believed; the truth is read by whoever looks. Fields that nobody needs here are not even read.
 */
import * as z from "zod";
import { type Saying, sayingsIn } from "./heard.ts";

/** A repository by its number, and as it is called now. */
export type Named = { readonly id: number; readonly owner: string; readonly name: string };

export type Hint = {
  readonly installation: number;
  /** Absent where it is about the installation alone. */
  readonly repo?: Named;
  /** Repositories that the installation got or lost, instead of one that it is about. */
  readonly others: readonly Named[];
  readonly prNumbers: readonly number[];
  readonly branches: readonly string[];
  /** Testing branches on which a check has ended. */
  readonly tested: readonly string[];
  readonly sayings: readonly Saying[];
  /** Where the repository is, or whether it is reached, is another than it was. */
  readonly moved: boolean;
  /** The App was removed from the account. */
  readonly uninstalled: boolean;
};

const base = z.object({
  action: z.string().optional(),
  installation: z.object({ id: z.int() }),
  repository: z.object({ id: z.int(), name: z.string(), owner: z.object({ login: z.string() }) }).optional(),
});

const number = z.object({ number: z.int().positive() });
const branch = z.string().min(1);
const pull = z.object({ pull_request: number.extend({ head: z.object({ ref: branch }) }) });
const push = z.object({ ref: branch });
const suite = z.object({ head_branch: branch.nullable(), pull_requests: z.array(number) });
const checkRun = z.object({
  check_run: z.object({ pull_requests: z.array(number), check_suite: suite.pick({ head_branch: true }) }),
});
const checkSuite = z.object({ check_suite: suite });
const status = z.object({ state: z.string(), branches: z.array(z.object({ name: branch })) });

const OWN = "mainline/";
const isOwn = (name: string): boolean => name.startsWith(OWN);

type Found = Partial<Pick<Hint, "prNumbers" | "branches" | "tested" | "sayings" | "moved" | "others">>;

const reached = z.object({ id: z.int(), full_name: z.string() });
const installed = z.object({ repositories_added: z.array(reached), repositories_removed: z.array(reached) });
/** An installation may reach thousands: the others are found when somebody looks. */
const OTHERS_MAX = 20;

const NOTHING = {
  others: [],
  prNumbers: [],
  branches: [],
  tested: [],
  sayings: [],
  moved: false,
  uninstalled: false,
} as const;

/** Undefined for an event that means nothing to the queue, or has another shape than GitHub publishes. */
export function hintOf(event: string, payload: unknown): Hint | undefined {
  const read = base.safeParse(payload).data;
  if (read === undefined) return undefined;
  const { action, installation, repository } = read;
  const nothing = { ...NOTHING, installation: installation.id };
  if (event === "installation") return { ...nothing, uninstalled: action === "deleted" };
  if (event === "installation_repositories") return { ...nothing, ...reachedIn(payload) };
  const found = foundIn(event, action, payload);
  if (found === undefined || repository === undefined) return undefined;
  return { ...nothing, repo: { id: repository.id, owner: repository.owner.login, name: repository.name }, ...found };
}

function foundIn(event: string, action: string | undefined, payload: unknown): Found | undefined {
  switch (event) {
    case "pull_request":
    case "pull_request_review": {
      const of = pull.safeParse(payload).data?.pull_request;
      return of === undefined || isOwn(of.head.ref)
        ? undefined
        : { prNumbers: [of.number], sayings: sayingsIn(event, action, payload) };
    }
    case "issue_comment": {
      const sayings = sayingsIn(event, action, payload);
      return sayings.length === 0 ? undefined : { sayings };
    }
    case "repository":
      return { moved: true };
    case "push": {
      const name = push.safeParse(payload).data?.ref.replace(/^refs\/heads\//u, "");
      return name === undefined || name.startsWith("refs/") || isOwn(name) ? undefined : { branches: [name] };
    }
    case "check_run": {
      const of = checkRun.safeParse(payload).data?.check_run;
      return of === undefined || action !== "completed"
        ? undefined
        : ended(of.check_suite.head_branch, of.pull_requests);
    }
    case "check_suite": {
      const of = checkSuite.safeParse(payload).data?.check_suite;
      return of === undefined || action !== "completed" ? undefined : ended(of.head_branch, of.pull_requests);
    }
    case "status": {
      const of = status.safeParse(payload).data;
      const tested = (of?.branches ?? []).map((one) => one.name).filter(isOwn);
      return of === undefined || of.state === "pending" || tested.length === 0 ? undefined : { tested };
    }
    default:
      return undefined;
  }
}

function reachedIn(payload: unknown): Found {
  const { repositories_added: added = [], repositories_removed: removed = [] } =
    installed.safeParse(payload).data ?? {};
  const others = [...added, ...removed].slice(0, OTHERS_MAX).map(({ id, full_name: fullName }) => {
    const [owner = "", name = ""] = fullName.split("/");
    return { id, owner, name };
  });
  return { others, moved: true };
}

/** More are of nobody's branch; what is left out is seen by the sweep. */
const PULLS_MAX = 100;

/** On a testing branch the pull request that GitHub names is the draft of the queue's own. */
function ended(name: string | null, pulls: readonly z.infer<typeof number>[]): Found | undefined {
  if (name !== null && isOwn(name)) return { tested: [name] };
  return pulls.length === 0 ? undefined : { prNumbers: pulls.slice(0, PULLS_MAX).map((one) => one.number) };
}
