/** Between the wire and test health: whose repository it is, and rows as they are answered. */
import type { ReplyOf } from "../shared/api/routes.ts";
import { type OrgSlug, repoKey } from "../shared/kernel/ids.ts";
import { fail, ok, type Result } from "../shared/kernel/result.ts";
import { toRfc3339 } from "../shared/kernel/time.ts";
import { repositoryPathOf } from "../shared/test-health/app/codeowners-path.ts";
import { ownersOf, parseCodeowners } from "../shared/test-health/app/codeowners.ts";
import type { TestPage, TestRow } from "../shared/test-health/app/lists.ts";
import type { Repository, UploadAnswer } from "../shared/test-health/app/ports.ts";
import type { RepositorySettings } from "../shared/test-health/app/settings.ts";

import type { Wiring } from "./wiring.ts";

type Names = { readonly host: string; readonly owner: string; readonly name: string };
type Asked = { readonly repo: Names; readonly org_url_slug: string };

/** The organization is the token's: another one's slug is as good as none. */
export function repositoryOf(org: OrgSlug, asked: Asked): Result<Repository, "ORGANIZATION_NOT_FOUND"> {
  if (asked.org_url_slug !== org)
    return fail("ORGANIZATION_NOT_FOUND", `This token belongs to no organization "${asked.org_url_slug}".`);
  return ok({ org, repo: repoKey(asked.repo) });
}

type Failing = ReplyOf<"list-failing-tests">["tests"][number];
type Unhealthy = ReplyOf<"list-unhealthy-tests">["tests"][number];

type Shown = { readonly repo: Names; readonly settings: RepositorySettings; readonly codeowners: string };

/** What rows of a repository are shown with; its owners are those of its settings, else what its code host has. */
export async function shownWith(
  { hosts }: Pick<Wiring, "hosts">,
  { org }: Repository,
  repo: Names,
  settings: RepositorySettings,
): Promise<Shown> {
  if (settings.codeowners !== null) return { repo, settings, codeowners: settings.codeowners };
  const { host } = repoKey(repo);
  try {
    return { repo, settings, codeowners: (await hosts(org, host)?.codeowners?.(repoKey(repo))) ?? "" };
  } catch {
    // The host may be out of reach, or not know the repository: what its tests do is known all the same.
    return { repo, settings, codeowners: "" };
  }
}

export const failingPage = (shown: Shown, { rows, page }: TestPage): ReplyOf<"list-failing-tests"> => ({
  tests: rows.map(presenter(shown)),
  page,
});

export const unhealthyPage = (shown: Shown, { rows, page }: TestPage): ReplyOf<"list-unhealthy-tests"> => ({
  tests: rows.map(presenter(shown)).map((test): Unhealthy => {
    const { most_common_failures: _, ...rest } = test;
    return rest;
  }),
  page,
});

/** Makes rows of one repository: what they have in common is read once. */
export function presenter({ repo, settings, codeowners }: Shown): (row: TestRow) => Failing {
  const { rules } = parseCodeowners(codeowners);
  const repositoryUrl = `https://${repo.host}/${repo.owner}/${repo.name}`;
  const branch = settings.defaultBranch ?? "main";
  return ({ record, status, isQuarantined, pullRequests, rate7d, rate24h, common }) => {
    const path = repositoryPathOf(record.file);
    const html_url =
      settings.testUrlTemplate === null
        ? path === null
          ? repositoryUrl
          : `${repositoryUrl}/blob/${encodeURIComponent(branch)}/${path.split("/").map(encodeURIComponent).join("/")}`
        : filled(settings.testUrlTemplate, { id: record.id, name: record.name, file: path ?? record.file });
    return {
      id: record.id,
      repository: { html_url: repositoryUrl },
      html_url,
      name: record.name,
      variant: record.variant,
      ...(record.file === "" ? {} : { file_path: record.file }),
      ...(record.parent === "" ? {} : { parent: record.parent }),
      ...(record.classname === "" ? {} : { classname: record.classname }),
      ...(record.ticket === null ? {} : { ticket: { html_url: ticketUrl(settings, record.ticket) } }),
      status: { value: status.value, reason: status.reason, timestamp: toRfc3339(status.at) },
      codeowners: path === null ? [] : [...ownersOf(rules, path)],
      pull_requests_impacted_last_7d: pullRequests,
      quarantined: isQuarantined,
      failure_rate_last_7d: rate7d,
      failure_rate_last_24h: rate24h,
      most_common_failures: common.map(({ summary, count, lastAt }) => ({
        summary,
        occurrence_count: count,
        last_occurrence: toRfc3339(lastAt),
      })),
    };
  };
}

/** A ticket is an address, or an id that the repository's template makes one of. */
export function ticketUrl({ ticketUrlTemplate }: RepositorySettings, ticket: string): string {
  if (/^https?:\/\//iu.test(ticket)) return ticket;
  return ticketUrlTemplate === null ? ticket : filled(ticketUrlTemplate, { ticket });
}

const filled = (template: string, values: Readonly<Record<string, string>>): string =>
  template.replaceAll(/\{(?<name>\w+)\}/gu, (whole, name: string) =>
    Object.hasOwn(values, name) ? encodeURIComponent(values[name] ?? "") : whole,
  );

export const uploadAnswer = ({ issues, quarantined, ...rest }: UploadAnswer): ReplyOf<"upload-test-results"> => ({
  ...rest,
  issues: issues.map((issue) => ({ ...issue })),
  quarantined: [...quarantined],
});

export const settingsView = ({ rules, ...rest }: RepositorySettings): ReplyOf<"get-test-health-settings"> => ({
  ...rest,
  rules: {
    sameCommit: { ...rules.sameCommit, branches: [...rules.sameCommit.branches] },
    shortEpisodes: { ...rules.shortEpisodes, branches: [...rules.shortEpisodes.branches] },
    failureRate: { ...rules.failureRate, branches: [...rules.failureRate.branches] },
    failureRun: { ...rules.failureRun, branches: [...rules.failureRun.branches] },
  },
});
