/** What a pull request's page shows of one queue. It is written anew when the pull request moves, and at no other time. */
import type { CheckShown, Page } from "../../../code-host/people.ts";
import { toRfc3339 } from "../../../kernel/time.ts";
import type { Entry, Move, StatusCheck } from "../../engine/types.ts";
import type { ExplanationView } from "../pull-requests.ts";
import type { QueueSettings } from "../settings.ts";
import { isInQueue } from "../shown.ts";
import { code, line, linked, plain } from "./page-text.ts";
import { STATE_LABELS, WORDS } from "./page-words.ts";

export type Shown = {
  readonly branch: string;
  readonly settings: QueueSettings;
  readonly told: ExplanationView;
  /** Where its test can be looked at. */
  readonly testUrl: string | null;
  /** What could not be done for whoever asked last. */
  readonly said: string | null;
};

const BLOCKERS_MAX = 10;
const CHECKS_MAX = 10;
const MOVES_MAX = 8;

export function pageOf(shown: Shown): Page {
  const { branch, settings, told } = shown;
  const { id: submission, headSha } = told.entry;
  const comment = settings.commentsEnabled ? commentOf(shown) : null;
  return {
    branch,
    submission,
    headSha,
    comment,
    check: settings.statusCheckEnabled ? checkOf(shown) : null,
    labels: labelsOf(shown),
  };
}

/** Of a pull request that the queue has never had: nothing but what was asked on it. */
export function pageOfStranger(branch: string, said: string | null, settings: QueueSettings): Page {
  const comment =
    said === null || !settings.commentsEnabled ? null : paragraphs(headline(branch, "Not submitted"), saidOn(said));
  return { branch, headSha: null, comment, check: null, labels: { of: [], on: [] } };
}

/** For somebody who asked why, below what was said since. */
export const answerOf = (shown: Shown): string =>
  paragraphs(headline(shown.branch, WORDS[shown.told.entry.state].title), explanationOf(shown));

export const answerOfStranger = (branch: string): string =>
  paragraphs(headline(branch, "Not submitted"), "It has not been submitted to this queue.");

const headline = (branch: string, title: string): string => `**${title}** · merge queue of ${code(branch)}`;

const saidOn = (said: string | null): string => (said === null ? "" : `**Not done:** ${plain(said)}`);

const paragraphs = (...parts: readonly string[]): string => parts.filter((part) => part !== "").join("\n\n");

function commentOf(shown: Shown): string {
  const { branch, settings, told } = shown;
  const { title } = WORDS[told.entry.state];
  return paragraphs(
    headline(branch, title),
    saidOn(shown.said),
    explanationOf(shown),
    historyOf(told.timeline),
    settings.commandsEnabled ? commandsFor(told.entry) : "",
  );
}

function checkOf(shown: Shown): CheckShown {
  const { branch, told, testUrl } = shown;
  const { check: state, title } = WORDS[told.entry.state];
  const failed = failedIn(told).map((one) => one.context);
  return {
    name: line(`Mainline (${branch})`),
    state,
    title: line(failed.length === 0 ? title : `Failed: ${failed.join(", ")}`, 200),
    summary: explanationOf(shown),
    url: testUrl,
  };
}

function explanationOf(shown: Shown): string {
  const { told, testUrl } = shown;
  const { entry, timeline } = told;
  const happened = entry.conclusion?.message ?? timeline[0]?.message ?? "";
  const why = happened === "" ? "" : `${capital(plain(happened))}.`;
  return paragraphs(
    [why, WORDS[entry.state].next, entry.priority.value === 0 && isInQueue(entry) ? "It is urgent." : ""]
      .filter((part) => part !== "")
      .join(" "),
    testUrl === null ? "" : `${linked("Its test", testUrl)} can be looked at.`,
    entry.state === "TESTING" ? requiredOf(told) : "",
    waitingOf(told),
    entry.state === "FAILED" ? failureOf(shown) : "",
    entry.state === "CANCELLED" ? againBy(shown, "It can be submitted again") : "",
  );
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const list = (items: readonly string[]): string => items.map((item) => `- ${item}`).join("\n");

/** Over in a moment, and not written anew then; or figures that others change. */
const MOMENTARY: ReadonlySet<string> = new Set([
  "ADMISSION",
  "BATCH_FORMING",
  "BUILDING",
  "COMPARING_TARGETS",
  "JUDGEMENT",
  "LANDING",
  "OTHER_LANDING",
  "REPEAT",
  "START",
  "STATE",
  "STATUS_NOT_REPORTED",
  "TARGET_READ",
  "TESTS",
  "UNDECIDED_PREDECESSORS",
]);

function waitingOf({ blockers, whatWouldMoveIt, entry }: ExplanationView): string {
  const lasting = blockers.filter((one) => !MOMENTARY.has(one.kind));
  if (lasting.length === 0) return "";
  const helps = entry.state === "NOT_READY" ? whatWouldMoveIt.map((one) => plain(one)).join("; ") : "";
  const what = entry.state === "NOT_READY" ? "What is missing:" : "When this was written, it waited for this:";
  const shown = list(lasting.slice(0, BLOCKERS_MAX).map((one) => plain(one.message)));
  return paragraphs(`${what}\n\n${shown}`, helps === "" ? "" : `What helps: ${helps}.`);
}

/** What it says that it waits for are, while it is tested, names of checks. */
function requiredOf({ waitsFor, blockers }: ExplanationView): string {
  const all = waitsFor.filter((one) => !blockers.some(({ message }) => message === one));
  const names = all.slice(0, CHECKS_MAX).map(code);
  const more = all.length > CHECKS_MAX ? ` and ${all.length - CHECKS_MAX} more` : "";
  return names.length === 0 ? "" : `What has to pass: ${names.join(", ")}${more}.`;
}

const failedIn = ({ failedRun }: ExplanationView): readonly StatusCheck[] =>
  (failedRun?.statuses ?? []).filter((one) => one.state === "FAILURE" || one.state === "ERROR");

function failureOf(shown: Shown): string {
  const failed = failedIn(shown.told).slice(0, CHECKS_MAX);
  const checks = failed.map(({ context, url, description }) =>
    [linked(code(context), url), description === null ? "" : plain(description, 150)]
      .filter((part) => part !== "")
      .join(": "),
  );
  const what = checks.length === 0 ? "" : `What failed:\n\n${list(checks)}`;
  return paragraphs(what, againBy(shown, "Mend it, or where it failed by chance, submit it again"));
}

const againBy = ({ settings }: Shown, what: string): string =>
  settings.commandsEnabled ? `${what}: comment ${code("/merge")}.` : `${what}.`;

function historyOf(timeline: readonly Move[]): string {
  if (timeline.length === 0) return "";
  const moves = timeline.slice(0, MOVES_MAX).map(({ at, to, message }) => {
    const minute = toRfc3339(at).slice(0, 16).replace("T", " ");
    return `${minute} UTC, ${WORDS[to].title.toLowerCase()}: ${plain(message)}`;
  });
  return `<details><summary>What happened</summary>\n\n${list(moves)}\n\n</details>`;
}

const LIVE = ["/why", "/cancel", "/restart", "/merge --priority=urgent"];
const ENDED = ["/why", "/merge"];

function commandsFor(entry: Entry): string {
  if (entry.state === "MERGED") return "";
  const commands = (isInQueue(entry) ? LIVE : ENDED).map(code).join(", ");
  return `<sub>Commands, in a comment of their own: ${commands}.</sub>`;
}

/** Only of the queue that the pull request is for: on the page of one that has two they would take each other off. */
function labelsOf({ branch, settings, told }: Shown): Page["labels"] {
  const { entry } = told;
  const isIts = entry.pr === null || entry.pr.baseBranch === branch;
  const states = settings.stateLabelsEnabled && isIts;
  const entering = settings.labelCommandsEnabled && isIts && !isInQueue(entry) ? [settings.enqueueingLabel] : [];
  return {
    of: [...(states ? STATE_LABELS : []), ...entering],
    on: states ? [WORDS[entry.state].label] : [],
  };
}
