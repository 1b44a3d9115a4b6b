/** The GitHub App as it is made: its rights, its events, and where it sends people and webhooks. */

/** Each with its reason; README.md repeats them for whoever confirms the App. */
export const PERMISSIONS = {
  /** Testing branches are made, merged into and removed; the target is moved. */
  contents: "write",
  /** Facts are read, drafts of testing branches opened, pull requests merged; comments and labels written on them. */
  pull_requests: "write",
  /** Required checks are read, and failed ones asked to run again; the queue's own check is written. */
  checks: "write",
  statuses: "read",
  /** Failed jobs run again, and those of a closed test are cancelled. */
  actions: "write",
  /** A merge that brings a changed workflow is refused without. */
  workflows: "write",
  /** Comments on pull requests are told as comments of issues: commands are read there. */
  issues: "read",
  /** What whoever writes a command may do; and all else needs it. */
  metadata: "read",
} as const;

/** GitHub sends every App `installation` and `installation_repositories`, and refuses a manifest that asks for them. */
const EVENTS = [
  "check_run",
  "check_suite",
  "issue_comment",
  "pull_request",
  "pull_request_review",
  "push",
  "repository",
  "status",
] as const;

export type ManifestWishes = {
  readonly name: string;
  /** Where GitHub can reach the service; absent: it sends no webhooks, and the service looks by itself. */
  readonly url: string | undefined;
  /** Of this command's own page, to which GitHub sends the browser back. */
  readonly page: string;
};

export const manifestOf = ({ name, url, page }: ManifestWishes) => ({
  name,
  url: url ?? "https://github.com",
  public: false,
  redirect_url: `${page}/created`,
  setup_url: `${page}/installed`,
  setup_on_update: false,
  hook_attributes: { url: `${url ?? "https://example.com"}/v1/webhooks/github`, active: url !== undefined },
  default_permissions: PERMISSIONS,
  default_events: EVENTS,
});

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** A page with one button: GitHub takes a manifest only from a browser that is signed in. */
export const manifestPage = (action: string, manifest: object): string =>
  `<!doctype html><meta charset="utf-8"><title>Mainline</title><form action="${escaped(action)}" method="post">` +
  `<input type="hidden" name="manifest" value="${escaped(JSON.stringify(manifest))}">` +
  "<button>Create the GitHub App</button></form>";
