/** Where organization `local` has its repositories when nothing else is said: inside the data folder. */
import { mkdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { LOCAL_ORG } from "./admin-token.ts";
import { CannotStart, oneLine } from "./cannot-start.ts";
import type { RepositoriesOf } from "./git-hosts.ts";

export function ownRepositories(data: string): RepositoriesOf {
  const folder = join(data, "repositories");
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return { org: LOCAL_ORG, folder: realpathSync(folder) };
  } catch (error) {
    throw new CannotStart(`Cannot use the data folder ${data}: ${oneLine(error)}`);
  }
}
