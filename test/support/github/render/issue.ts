/** A pull request as an issue, which is what its comments and labels belong to. */
import type { Shape } from "../shapes/published.ts";
import type { Labelling, Pull, Repository, World } from "../world.ts";
import { instant, nodeId, user } from "./basics.ts";
import { reactionsOf } from "./comment.ts";
import { label, simplePull } from "./pull.ts";
import { api } from "./repository.ts";

export function issueShape(world: World, repo: Repository, pull: Pull): Shape<"issue"> {
  const url = api(world, repo, `/issues/${pull.number}`);
  const shown = simplePull(world, repo, pull);
  const page = shown.html_url;
  return {
    url,
    repository_url: api(world, repo),
    labels_url: `${url}/labels{/name}`,
    comments_url: `${url}/comments`,
    events_url: `${url}/events`,
    html_url: page,
    id: pull.id + 1_000_000,
    node_id: shown.node_id,
    number: pull.number,
    title: pull.title,
    user: shown.user,
    labels: shown.labels,
    state: pull.state,
    locked: false,
    assignee: null,
    assignees: [],
    milestone: null,
    comments: repo.comments.filter((one) => one.number === pull.number).length,
    created_at: shown.created_at,
    updated_at: shown.updated_at,
    closed_at: shown.closed_at,
    author_association: shown.author_association,
    active_lock_reason: null,
    draft: pull.draft,
    pull_request: {
      url: shown.url,
      html_url: page,
      diff_url: shown.diff_url,
      patch_url: shown.patch_url,
      merged_at: shown.merged_at,
    },
    body: pull.body,
    reactions: reactionsOf(url, []),
    performed_via_github_app: null,
    state_reason: null,
  };
}

export function labellingShape(world: World, repo: Repository, one: Labelling): Shape<"labeled-issue-event"> {
  const { name, color } = label(world, repo, one.label);
  return {
    id: one.id,
    node_id: nodeId("LabeledEvent", one.id),
    url: api(world, repo, `/issues/events/${one.id}`),
    actor: user(world, one.actor),
    event: one.event,
    commit_id: null,
    commit_url: null,
    created_at: instant(one.at),
    label: { name, color },
    performed_via_github_app: null,
  };
}
