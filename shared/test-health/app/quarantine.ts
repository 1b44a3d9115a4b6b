/** Which of some tests are quarantined: what clients ask before they answer for a test step. */
import type { RepoKey } from "../../kernel/ids.ts";
import { testIdOf } from "./identity.ts";
import { statusOf } from "./judge.ts";
import type { HealthApp, Repository } from "./ports.ts";
import { isQuarantined } from "./settings.ts";

export type Asked = {
  readonly id?: string | null | undefined;
  readonly name: string;
  readonly parentName?: string | null | undefined;
  readonly className?: string | null | undefined;
  readonly file?: string | null | undefined;
  readonly variant?: string | null | undefined;
};

/** @param written the repository's name as the client writes it: ids are made of it */
export async function quarantineOf(
  { health }: HealthApp,
  repository: Repository,
  written: RepoKey,
  asked: readonly Asked[],
): Promise<{ readonly isDisabled: boolean; readonly testIds: readonly string[] }> {
  const settings = await health.settings(repository);
  if (!settings.canQuarantine || asked.length === 0) return { isDisabled: !settings.canQuarantine, testIds: [] };
  const ids = [...new Set(asked.map((one) => idOf(repository, written, one)))];
  const records = await health.tests(repository, ids);
  const testIds = ids.filter((id) => {
    const record = records.get(id);
    return record !== undefined && isQuarantined(settings, record.setting, statusOf(record));
  });
  return { isDisabled: false, testIds };
}

function idOf({ org }: Repository, { host, owner, name }: RepoKey, asked: Asked): string {
  if (asked.id !== undefined && asked.id !== null && asked.id !== "") return asked.id;
  return testIdOf({
    org,
    repo: `${host}/${owner}/${name}`,
    file: asked.file ?? "",
    classname: asked.className ?? "",
    parent: asked.parentName ?? "",
    name: asked.name,
    id: "",
    variant: asked.variant ?? "",
  });
}
