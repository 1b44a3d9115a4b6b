import type { Shape } from "../shapes/published.ts";
import { type Comment, type Reaction, REACTIONS, type Repository, type World } from "../world.ts";
import { instant, integration, nodeId, ownApp, user } from "./basics.ts";
import { api, html } from "./repository.ts";

export function commentShape(world: World, repo: Repository, one: Comment): Shape<"issue-comment"> {
  const url = api(world, repo, `/issues/comments/${one.id}`);
  return {
    id: one.id,
    node_id: nodeId("IssueComment", one.id),
    url,
    html_url: `${html(world, repo, `/pull/${one.number}`)}#issuecomment-${one.id}`,
    issue_url: api(world, repo, `/issues/${one.number}`),
    body: one.body,
    user: user(world, one.user),
    created_at: instant(one.createdAt),
    updated_at: instant(one.updatedAt),
    author_association: one.user === repo.owner ? "OWNER" : associationOf(repo, one),
    performed_via_github_app: one.viaApp ? integration(world, ownApp(world.app)) : null,
    reactions: reactionsOf(url, one.reactions),
  };
}

/** How often each of them was left. */
export function reactionsOf(url: string, reactions: readonly Reaction[]): Shape<"reaction-rollup"> {
  const none = { "+1": 0, "-1": 0, laugh: 0, hooray: 0, confused: 0, heart: 0, rocket: 0, eyes: 0 };
  const counted = REACTIONS.map((content) => [content, reactions.filter((one) => one.content === content).length]);
  return { ...none, ...Object.fromEntries(counted), url: `${url}/reactions`, total_count: reactions.length };
}

export const reactionShape = (world: World, one: Reaction): Shape<"reaction"> => ({
  id: one.id,
  node_id: nodeId("Reaction", one.id),
  user: user(world, one.user),
  content: one.content,
  created_at: instant(one.at),
});

const associationOf = (repo: Repository, one: Comment): Shape<"author-association"> =>
  repo.roles.has(one.user.login.toLowerCase()) ? "MEMBER" : "NONE";
