/** The label that submits a pull request. Each time that it is put on, or taken off, acts once. */
import type { Heard, Labelled, Pull } from "../../../code-host/people.ts";
import type { Fault } from "../../../kernel/result.ts";
import { MINUTE_MS } from "../../../kernel/time.ts";
import { submit } from "../submit.ts";
import { cancel } from "../wishes.ts";
import { type Hearing, isLate, LATE, mayWrite, remember, rightOf, shows, signed, unheard } from "./hearing.ts";
import { isSameLabel } from "./labels.ts";
import type { HeardOf } from "./ports.ts";

type OfLabel = Extract<Heard, { kind: "LABEL" }>;

/** The host may know of a label before it knows who put it on. */
const BEHIND_MS_MAX = 10 * MINUTE_MS;

export async function hearLabel(on: Hearing, heard: OfLabel): Promise<string | undefined> {
  const { app, people, key, settings, prNumber } = on;
  if (!settings.labelCommandsEnabled) return undefined;
  const [known, pull] = await Promise.all([app.heard.of(key, prNumber), people.pull(key.repo, prNumber)]);
  if (pull === "NOT_FOUND") return undefined;
  const isOn = pull.labels.some((one) => isSameLabel(one, settings.enqueueingLabel));
  if (!(await isMeant(on, known, pull, isOn))) return undefined;
  const last = await people.labelled(key.repo, prNumber, settings.enqueueingLabel);
  if (last === null || last.isOn !== isOn) {
    const isBehind = app.clock() - heard.at < BEHIND_MS_MAX;
    return isBehind ? "the host does not say yet who did it" : unheard(on, { why: "nobody knows who did it" });
  }
  if (known.label !== null && known.label.event >= last.id) return undefined;
  return act({ ...on, known, last, pull });
}

/** On: of the queue that the pull request is for. Off: of one in which it is because of the label. */
async function isMeant(on: Hearing, { label }: HeardOf, { base, state }: Pull, isOn: boolean): Promise<boolean> {
  if (isOn) return base === on.key.branch && state === "OPEN";
  if (label === null || label.entry === null) return false;
  return (await on.app.queues.entry(on.key, on.prNumber))?.entry.id === label.entry;
}

type Acting = Hearing & { readonly known: HeardOf; readonly last: Labelled; readonly pull: Pull };

async function act(acting: Acting): Promise<string | undefined> {
  const { last } = acting;
  const { by } = last;
  if (by.kind === "SELF") return settled(acting, {});
  const right = await rightOf(acting, by);
  if (!mayWrite(right)) {
    const what = last.isOn ? "the label that they put on" : "that they took the label off";
    unheard(acting, { by: by.login, why: `${what} needs the right to write; theirs is ${right}` });
    return settled(acting, {});
  }
  return last.isOn ? submitted(acting) : cancelled(acting);
}

const noting = ({ last }: Acting, change: Partial<HeardOf>, known: HeardOf): HeardOf => ({
  ...known,
  label: { event: last.id, entry: last.isOn ? null : (known.label?.entry ?? null) },
  ...change,
});

async function submitted(acting: Acting): Promise<string | undefined> {
  const { app, key, prNumber, known, last, pull } = acting;
  if (isLate(app, pull, last.at))
    return settled(acting, { said: { text: `${LATE} Take the label off, and put it on again.`, at: app.clock() } });
  // One that is in the queue already was submitted by somebody else: no record is made with it.
  const outcome = await submit(app, { key, prNumber, by: signed(last.by) }, ({ entry }) => ({
    heard: { key, prNumber, next: noting(acting, { label: { event: last.id, entry: entry.id }, said: null }, known) },
  }));
  return concluded(acting, outcome);
}

async function cancelled(acting: Acting): Promise<string | undefined> {
  const { app, key, prNumber, known, last } = acting;
  const record = () => ({ heard: { key, prNumber, next: noting(acting, { said: null }, known) } });
  return concluded(acting, await cancel(app, { key, prNumber, by: signed(last.by) }, record));
}

type Outcome = { readonly ok: true } | { readonly ok: false; readonly fault: Fault };

function concluded(acting: Acting, outcome: Outcome): Promise<string | undefined> | string {
  if (outcome.ok) return settled(acting, {});
  if (outcome.fault.code === "UNAVAILABLE") return outcome.fault.message;
  return settled(acting, { said: { text: outcome.fault.message, at: acting.app.clock() } });
}

const settled = (acting: Acting, change: Partial<HeardOf>): Promise<string | undefined> =>
  remember(
    acting,
    (known) =>
      known.label !== null && known.label.event >= acting.last.id ? undefined : noting(acting, change, known),
    change.said === undefined ? [] : [shows(acting, `label:${acting.last.id}`)],
  );
