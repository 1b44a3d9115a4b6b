/** For functions that talk to GitHub. All others are bundled without its client. */
import { door, withSecret } from "./app-secret.ts";
import { gitHubHosts } from "./github.ts";
import { type PartsOf, tableOnly } from "./parts.ts";

export const withGitHub = (partsOf: PartsOf = tableOnly): PartsOf =>
  withSecret(partsOf, ({ table, clock }, app, refused) => ({
    hosts: gitHubHosts(table, { ...app, refused }, clock),
    gitHub: door(app),
  }));
