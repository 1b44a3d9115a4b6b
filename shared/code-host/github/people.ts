/** What people see on GitHub, and what they say there. */
import type { RepoKey } from "../../kernel/ids.ts";
import type { Clock } from "../../kernel/time.ts";
import type { People } from "../people.ts";
import { readComment, readCommentsSince, readLabelled, readPage, readPullsSince, readRight, refuse } from "./hear.ts";
import type { Place } from "./place.ts";
import { createShow, runAt } from "./show.ts";
import type { ShownStore } from "./show-port.ts";

type At = <T>(key: RepoKey, work: (place: Place) => Promise<T>) => Promise<T>;

export function createPeople(at: At, pages: ShownStore, clock: Clock): People {
  const show = createShow(pages, clock);
  return {
    show: (repo, prNumber, branch, page) => at(repo, (place) => show(place, prNumber, branch, page)),
    runAt: (repo, run) => at(repo, (place) => runAt(place, run)),
    comment: (repo, id) => at(repo, (place) => readComment(place, id)),
    commentsSince: (repo, since) => at(repo, (place) => readCommentsSince(place, since)),
    pull: (repo, prNumber) => at(repo, (place) => readPage(place, prNumber)),
    pullsSince: (repo, since) => at(repo, (place) => readPullsSince(place, since)),
    labelled: (repo, prNumber, label) => at(repo, (place) => readLabelled(place, prNumber, label)),
    rightOf: (repo, login) => at(repo, (place) => readRight(place, login)),
    refuse: (repo, comment) => at(repo, (place) => refuse(place, comment)),
  };
}
