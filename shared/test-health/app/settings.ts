/** What a repository has chosen about its tests. */
import { DEFAULT_RULES, type DetectionRules } from "../detect/rules.ts";

export type RepositorySettings = {
  readonly rules: DetectionRules;
  /** Whether quarantine is effective at all. */
  readonly canQuarantine: boolean;
  /** Whether a flaky test is quarantined without anybody setting it. */
  readonly quarantinesFlaky: boolean;
  /** The branch whose results are the suite's own; null: `main`, `master`, or a branch that a queue merges into. */
  readonly defaultBranch: string | null;
  /** Of a test's page elsewhere, with `{id}`, `{name}`, `{file}`. */
  readonly testUrlTemplate: string | null;
  /** Of a ticket's page, with `{ticket}`. */
  readonly ticketUrlTemplate: string | null;
  /** The text of a CODEOWNERS file, as it came with an upload or was read from the repository. */
  readonly codeowners: string | null;
};

export const DEFAULT_SETTINGS: RepositorySettings = {
  rules: DEFAULT_RULES,
  canQuarantine: true,
  quarantinesFlaky: false,
  defaultBranch: null,
  testUrlTemplate: null,
  ticketUrlTemplate: null,
  codeowners: null,
};

const USUAL = ["main", "master"];

export const isDefaultBranch = ({ defaultBranch }: RepositorySettings, branch: string): boolean =>
  defaultBranch === null ? USUAL.includes(branch) : branch === defaultBranch;

/** What a test's pull requests are spared: set by somebody, or flaky where the repository quarantines such tests. */
export function isQuarantined(
  settings: Pick<RepositorySettings, "canQuarantine" | "quarantinesFlaky">,
  setting: "ALWAYS_QUARANTINE" | "NEVER_QUARANTINE" | "UNSPECIFIED",
  status: "HEALTHY" | "FLAKY" | "BROKEN",
): boolean {
  if (!settings.canQuarantine || setting === "NEVER_QUARANTINE") return false;
  return setting === "ALWAYS_QUARANTINE" || (status === "FLAKY" && settings.quarantinesFlaky);
}

/** Some of the settings, and of the rules some fields of some. */
export type SettingsPatch = {
  readonly [Name in keyof Omit<RepositorySettings, "rules">]?: RepositorySettings[Name] | undefined;
} & {
  readonly rules?: { readonly [Rule in keyof DetectionRules]?: Fields<DetectionRules[Rule]> | undefined } | undefined;
};
type Fields<Rule> = { readonly [Name in keyof Rule]?: Rule[Name] | undefined };

/** What is left out stays as it is. */
export function changeSettings(settings: RepositorySettings, { rules, ...patch }: SettingsPatch): RepositorySettings {
  const merged = <Whole extends object>(whole: Whole, part: Fields<Whole> | undefined): Whole => ({
    ...whole,
    ...Object.fromEntries(Object.entries(part ?? {}).filter(([, value]) => value !== undefined)),
  });
  return {
    ...merged(settings, patch),
    rules: {
      sameCommit: merged(settings.rules.sameCommit, rules?.sameCommit),
      shortEpisodes: merged(settings.rules.shortEpisodes, rules?.shortEpisodes),
      failureRate: merged(settings.rules.failureRate, rules?.failureRate),
      failureRun: merged(settings.rules.failureRun, rules?.failureRun),
    },
  };
}
