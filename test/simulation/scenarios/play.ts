/** Plays a scenario in a world of its own. */
import { HOUR_MS, SECOND_MS } from "../../../shared/kernel/time.ts";
import type { Entry } from "../../../shared/queue/engine/types.ts";
import { empty, noMoreFaults } from "../calm.ts";
import { headOf } from "../host/content.ts";
import { changeOf, type HostPr } from "../host/pull-requests.ts";
import { type Fault, onlyFaults } from "../machine/faults.ts";
import type { Functions } from "../machine/gateway.ts";
import type { Storage } from "../machine/storage.ts";
import type { Deployment } from "../machine/site.ts";
import { ALL_SCOPES, aCaller } from "../people/callers.ts";
import type { Caller } from "../people/caller.ts";
import type { Report } from "../report.ts";
import { during, live, untilSettled } from "../settled.ts";
import { inOwnTable, judgeEnd } from "../simulate.ts";
import { REF, type World } from "../world.ts";
import { type Act, NO_SWEEP, type Scenario, type When } from "./scenario.ts";

export type Staging = {
  readonly scenario: Scenario;
  /**
   * The class of faults that is let loose: all whose name begins so. `none`; or `no sweep`: nothing goes wrong, and
   * nobody ever looks whether something did, so that every message that should be sent shows by its absence.
   */
  readonly faults: string;
  readonly deployment: Deployment;
  readonly seed: number;
  readonly echo?: ((line: string) => void) | undefined;
};

const MINUTE_MS = 60 * SECOND_MS;
/** Much longer than any scenario takes. */
const SETTLED_MS_MAX = 6 * HOUR_MS;
const WAITS_MS_MAX = 4 * HOUR_MS;

export function playScenario(of: Staging, storage: Storage, functions: Functions): Promise<Report> {
  const { scenario, deployment, seed, echo } = of;
  const faults = new Map<Fault, number>(onlyFaults(of.faults));
  for (const fault of scenario.except ?? []) faults.delete(fault);
  const habits = { medianMs: (scenario.medianMinutes ?? 2) * MINUTE_MS };
  return inOwnTable(storage, { seed, deployment, habits, faults, functions, echo }, (world) => play(world, of));
}

async function play(world: World, { scenario, faults }: Staging): Promise<void> {
  const { scheduler, service } = world;
  const caller = await aCaller(world, "ann", ALL_SCOPES);
  for (const number of Object.keys(scenario.prs).map(Number)) open(world, scenario, number);
  if (faults !== NO_SWEEP) service.start();
  await during(world, caller.sure("create-queue", { ...REF, ...scenario.settings }));
  for (const act of scenario.acts) {
    if (act.when !== undefined) await waitFor(world, act.when);
    if (scheduler.isStopped) return;
    world.book.say(`story: ${JSON.stringify(act)}`);
    await during(world, perform(world, caller, act));
  }
  // With whatever goes wrong, until all have ended; then what is late comes, and nothing else.
  await untilSettled(world, SETTLED_MS_MAX, async () => {});
  noMoreFaults(world);
  await untilSettled(world, SETTLED_MS_MAX, async () => {});
  if (scheduler.isStopped) return;
  judge(world, scenario);
  await empty(world, caller, REF);
  if (!scheduler.isStopped) await judgeEnd(world);
}

function open({ host }: World, { prs, settings }: Scenario, number: number): void {
  const cast = prs[number] ?? {};
  const pr = host.open(number);
  const change = changeOf(pr);
  const { truth } = host;
  truth.touch(change, cast.areas ?? ["app"]);
  if (cast.isBad === true) truth.bad.add(change);
  if (cast.flakes !== undefined) truth.flakes.set(change, cast.flakes);
  if (cast.clashesWith !== undefined) truth.clash(change, `${cast.clashesWith}@1`);
  if (cast.conflictsWith !== undefined) truth.conflict(change, `${cast.conflictsWith}@1`);
  if (cast.mends !== undefined) truth.mend(`${cast.mends}@1`, change);
  if (cast.isUnbuildable === true) truth.unbuildable.add(change);
  pr.isDraft = cast.isDraft === true;
  host.headIsPushed(pr, settings?.["directMergeMode"] !== undefined);
}

async function waitFor(world: World, when: When): Promise<void> {
  const { scheduler, book } = world;
  if ("minutes" in when) return scheduler.run(when.minutes * MINUTE_MS);
  const isSo = (): boolean => stateOf(world, when.pr) === when.is;
  await scheduler.run(WAITS_MS_MAX, isSo);
  if (!isSo() && !scheduler.isStopped) book.problem(`#${when.pr} never became ${when.is}`);
}

/** Of its latest submission. */
function stateOf(world: World, number: number): Entry["state"] | undefined {
  const all = [...world.commits.ended.values(), ...live(world)].filter((entry) => entry.prNumber === number);
  return all.toSorted((a, b) => a.submittedAt - b.submittedAt).at(-1)?.state;
}

async function perform(world: World, caller: Caller, act: Act): Promise<void> {
  const { host } = world;
  const { target } = host;
  const send = async (id: Parameters<Caller["sure"]>[0], body: object): Promise<void> => {
    const reply = await caller.sure(id, { ...REF, ...body });
    if (reply?.status !== 200) world.book.problem(`${id} answered ${reply?.status}: ${JSON.stringify(reply?.body)}`);
  };
  const change = (number: number, to: (pr: HostPr) => void): void => {
    const pr = host.prs.get(number);
    if (pr === undefined) throw new Error(`there is no #${number}`);
    to(pr);
    host.changed(pr);
  };
  if ("submit" in act) {
    const { submit: number, priority, noBatch } = act;
    await send("submit-pull-request", { pr: { number }, ...(priority && { priority }), ...(noBatch && { noBatch }) });
  } else if ("cancel" in act) await send("cancel-pull-request", { pr: { number: act.cancel } });
  else if ("restart" in act) await send("restart-tests-on-pull-request", { pr: { number: act.restart } });
  else if ("targets" in act) {
    const pr = { number: act.targets, sha: headOf(`${act.targets}@1`) };
    await send("set-impacted-targets", { pr, impactedTargets: act.are });
  } else if ("update" in act) await send("update-queue", act.update);
  else if ("push" in act)
    change(act.push, (pr) => {
      host.push(pr);
      host.truth.touch(changeOf(pr), ["app"]);
      host.headIsPushed(pr, false);
    });
  else if ("close" in act) change(act.close, (pr) => (pr.state = "CLOSED"));
  else if ("makeReady" in act) change(act.makeReady, (pr) => (pr.isDraft = false));
  else if ("retarget" in act) change(act.retarget, (pr) => (pr.baseBranch = act.to));
  else if ("mergeByHand" in act) change(act.mergeByHand, (pr) => host.mergeByHand(pr));
  else if ("pushTarget" in act) target.push(act.pushTarget);
  else if (act.target === "DELETED") target.remove();
  else target.restore();
}

function judge(world: World, { ends, also = [] }: Scenario): void {
  const { host, book } = world;
  for (const [number, expected] of Object.entries(ends)) {
    const state = stateOf(world, Number(number));
    const isOpen = state === "NOT_READY";
    if (expected === "OPEN" ? !isOpen : state !== expected)
      book.problem(`#${number} should end ${expected}, and is ${state}`);
  }
  const merged = Object.keys(ends).filter((number) => ends[Number(number)] === "MERGED");
  const changes = (host.target.content ?? []).map((one) => one.split(/[:@]/u)[1] ?? "");
  const expected = ["0", ...merged, ...also].toSorted();
  if (changes.toSorted().join() !== expected.join())
    book.problem(`the target holds ${changes.join()} in place of ${expected.join()}`);
}
