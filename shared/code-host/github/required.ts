/** What GitHub itself requires of a branch before it is merged into: by branch protection, and by rulesets. */
import { HostUnavailable } from "../port.ts";
import { Answered } from "./client.ts";
import { type Place, unless } from "./place.ts";
import type { Source } from "./port.ts";

/** `app`: from whom it has to come; null: from anybody. */
type Required = { readonly context: string; readonly app: number | null };

export type Branch = Awaited<ReturnType<typeof getBranch>>["data"];

const getBranch = ({ ask, at }: Place, branch: string) =>
  ask("GET /repos/{owner}/{repo}/branches/{branch}", { ...at, branch });

/** Whoever asks for a branch that was renamed, or for a `master` that is gone, is led to another one: that is not it. */
export async function readBranch(place: Place, branch: string): Promise<Branch | undefined> {
  const found = await unless([404], () => getBranch(place, branch));
  return found?.data.name === branch ? found.data : undefined;
}

/** Statuses in the order in which GitHub lists them; one that is required twice is there twice. */
export const requiredBy = async (
  place: Place,
  branch: string,
  found: Branch | undefined,
): Promise<readonly Required[]> => [...protecting(found), ...(await ruled(place, branch))];

/** Of the statuses that GitHub requires of a branch, those that a certain App has to set, and which App. */
export async function expectedSources(place: Place, branch: string): Promise<readonly Source[]> {
  const found = await readBranch(place, branch);
  // What is missing, or may not be seen, would expect nobody, and then anybody's word would count.
  if (found === undefined) throw new HostUnavailable(`GitHub knows no branch ${branch}, or does not let us see it`);
  const required = await requiredBy(place, branch, found);
  return required.flatMap(({ context, app }) => (app === null ? [] : [{ context, app }]));
}

function protecting(branch: Branch | undefined): readonly Required[] {
  const { contexts = [], checks = [] } = branch?.protection?.required_status_checks ?? {};
  return contexts.flatMap((context) => {
    const apps = checks.flatMap((one) => (one.context === context ? [appOf(one.app_id)] : []));
    return (apps.length === 0 ? [null] : apps).map((app) => ({ context, app }));
  });
}

/** "Any source" is told in several ways. */
const appOf = (id: number | null | undefined): number | null => (id === null || id === undefined || id < 1 ? null : id);

const RULES_PER_PAGE = 100;

/** How GitHub refuses what the account's plan does not have: rulesets of private repositories are one such thing. */
const UPGRADE = /upgrade to github/iu;

const hasNoRulesets = (error: unknown): boolean =>
  error instanceof Answered && (error.status === 404 || (error.status === 403 && UPGRADE.test(error.said)));

/** What the rulesets that hold for the branch require. Any other refusal says nothing of them. */
async function ruled({ ask, at }: Place, branch: string): Promise<readonly Required[]> {
  const asked = { ...at, branch, per_page: RULES_PER_PAGE };
  const found = await ask("GET /repos/{owner}/{repo}/rules/branches/{branch}", asked).catch((error: unknown) => {
    if (hasNoRulesets(error)) return undefined;
    throw error;
  });
  return (found?.data ?? []).flatMap((rule) =>
    rule.type === "required_status_checks"
      ? (rule.parameters?.required_status_checks ?? []).map((one) => ({
          context: one.context,
          app: appOf(one.integration_id),
        }))
      : [],
  );
}
