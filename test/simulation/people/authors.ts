/** What people do on the code host, without the queue being asked. */
import type { Random } from "../../crash/random.ts";
import type { HostWorld } from "../host/world.ts";
import { changeOf, type HostPr } from "../host/pull-requests.ts";
import type { Book } from "../judges/book.ts";

/** Opens a pull request whose change is whatever it turns out to be. */
export function open(host: HostWorld, number: number, random: Random): HostPr {
  const pr = host.open(number, random.chance(0.1));
  host.truth.invent(changeOf(pr), around(host, number), random);
  host.headIsPushed(pr);
  if (random.chance(0.05)) pr.isDraft = true;
  if (random.chance(0.04)) pr.baseBranch = "other";
  return pr;
}

/** The changes of those that came a little earlier. */
const around = (host: HostWorld, number: number): readonly string[] =>
  [...host.prs.values()].filter((pr) => pr.number < number && pr.number > number - 8).map(changeOf);

export function push(host: HostWorld, pr: HostPr, random: Random): void {
  host.push(pr);
  host.truth.invent(changeOf(pr), around(host, pr.number), random);
  host.headIsPushed(pr);
  host.changed(pr);
}

/** Somebody does something to a pull request. */
export function meddle(host: HostWorld, pr: HostPr, random: Random, book: Book): void {
  const before = JSON.stringify(pr);
  const dice = random.next();
  if (dice < 0.25 && pr.state !== "MERGED") push(host, pr, random);
  else if (dice < 0.35 && pr.state === "OPEN") pr.state = "CLOSED";
  else if (dice < 0.5 && pr.state === "CLOSED") pr.state = "OPEN";
  else if (dice < 0.62) pr.isDraft = !pr.isDraft;
  else if (dice < 0.72) pr.baseBranch = pr.baseBranch === "main" ? "other" : "main";
  else if (dice < 0.82) pr.obstacle = pr.obstacle === null ? "it needs a review" : null;
  else if (dice < 0.9) pr.refusal = pr.refusal === null ? "it needs a review" : null;
  else if (pr.state === "OPEN") host.mergeByHand(pr);
  if (JSON.stringify(pr) === before) return;
  book.say(`somebody: #${pr.number} ${pr.state}${pr.isDraft ? " draft" : ""} ${changeOf(pr)} on ${pr.baseBranch}`);
  host.changed(pr);
}

/** Somebody moves the target, past the queue. */
export function moveTarget(host: HostWorld, random: Random, book: Book): void {
  const { target } = host;
  const dice = random.next();
  book.count("movements by hand");
  if (target.content === null) target.restore();
  else if (dice < 0.5) target.push();
  else if (dice < 0.6) target.push({ required: random.pick([["unit"], ["unit", "lint"], ["lint"], null]) ?? null });
  else if (dice < 0.7) target.push({ mapsPaths: random.chance(0.5) });
  else if (dice < 0.9) target.forcePush(random.int(1, 2));
  else target.remove();
  book.say(`somebody: the target is ${target.content?.join() ?? "gone"}`);
}
