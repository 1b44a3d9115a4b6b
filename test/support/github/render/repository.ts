/** A repository in GitHub's sizes. */
import type { Shape } from "../shapes/published.ts";
import { fullName, type Repository, type World } from "../world.ts";
import { instant, nodeId, user } from "./basics.ts";

export const api = (world: World, repo: Repository, path = ""): string => `${world.url}/repos/${fullName(repo)}${path}`;
export const html = (world: World, repo: Repository, path = ""): string => `${world.url}/${fullName(repo)}${path}`;

const addresses = (world: World, repo: Repository) => {
  const at = (path: string): string => api(world, repo, path);
  return {
    html_url: html(world, repo),
    url: at(""),
    archive_url: at("/{archive_format}{/ref}"),
    assignees_url: at("/assignees{/user}"),
    blobs_url: at("/git/blobs{/sha}"),
    branches_url: at("/branches{/branch}"),
    collaborators_url: at("/collaborators{/collaborator}"),
    comments_url: at("/comments{/number}"),
    commits_url: at("/commits{/sha}"),
    compare_url: at("/compare/{base}...{head}"),
    contents_url: at("/contents/{+path}"),
    contributors_url: at("/contributors"),
    deployments_url: at("/deployments"),
    downloads_url: at("/downloads"),
    events_url: at("/events"),
    forks_url: at("/forks"),
    git_commits_url: at("/git/commits{/sha}"),
    git_refs_url: at("/git/refs{/sha}"),
    git_tags_url: at("/git/tags{/sha}"),
    hooks_url: at("/hooks"),
    issue_comment_url: at("/issues/comments{/number}"),
    issue_events_url: at("/issues/events{/number}"),
    issues_url: at("/issues{/number}"),
    keys_url: at("/keys{/key_id}"),
    labels_url: at("/labels{/name}"),
    languages_url: at("/languages"),
    merges_url: at("/merges"),
    milestones_url: at("/milestones{/number}"),
    notifications_url: at("/notifications{?since,all,participating}"),
    pulls_url: at("/pulls{/number}"),
    releases_url: at("/releases{/id}"),
    stargazers_url: at("/stargazers"),
    statuses_url: at("/statuses/{sha}"),
    subscribers_url: at("/subscribers"),
    subscription_url: at("/subscription"),
    tags_url: at("/tags"),
    teams_url: at("/teams"),
    trees_url: at("/git/trees{/sha}"),
  };
};

const named = (world: World, repo: Repository) => ({
  id: repo.id,
  node_id: nodeId("Repository", repo.id),
  name: repo.name,
  full_name: fullName(repo),
  owner: user(world, repo.owner),
  private: false,
  description: null,
  fork: repo.parent !== null,
  ...addresses(world, repo),
});

export const minimalRepository = (world: World, repo: Repository): Shape<"minimal-repository"> => named(world, repo);

const details = (world: World, repo: Repository) => {
  const open = [...repo.pulls.values()].filter((pull) => pull.state === "open").length;
  const born = instant(repo.createdAt);
  return {
    clone_url: `${html(world, repo)}.git`,
    git_url: `git://localhost/${fullName(repo)}.git`,
    ssh_url: `git@localhost:${fullName(repo)}.git`,
    svn_url: html(world, repo),
    mirror_url: null,
    homepage: null,
    language: null,
    license: null,
    forks_count: 0,
    forks: 0,
    stargazers_count: 0,
    watchers_count: 0,
    watchers: 0,
    size: 1,
    default_branch: repo.defaultBranch,
    open_issues_count: open,
    open_issues: open,
    is_template: false,
    topics: [],
    has_issues: true,
    has_projects: true,
    has_wiki: true,
    has_pages: false,
    has_downloads: true,
    has_discussions: false,
    archived: false,
    disabled: false,
    visibility: "public",
    pushed_at: born,
    created_at: born,
    updated_at: born,
    allow_forking: true,
    web_commit_signoff_required: false,
  };
};

/** Told in full where one repository is asked for. */
const merging = (repo: Repository) => ({
  allow_merge_commit: repo.allow.merge,
  allow_squash_merge: repo.allow.squash,
  allow_rebase_merge: repo.allow.rebase,
  allow_auto_merge: false,
  allow_update_branch: false,
  delete_branch_on_merge: repo.allow.deleteBranchOnMerge,
});

export const repository = (world: World, repo: Repository): Shape<"repository"> => ({
  ...named(world, repo),
  ...details(world, repo),
});

/** As webhooks tell it. */
export const hookedRepository = (world: World, repo: Repository): Shape<"repository-webhooks"> => ({
  ...named(world, repo),
  ...details(world, repo),
  custom_properties: {},
});

export const fullRepository = (world: World, repo: Repository): Shape<"full-repository"> => ({
  ...named(world, repo),
  ...details(world, repo),
  ...merging(repo),
  ...(repo.parent === null ? {} : { parent: repository(world, repo.parent), source: repository(world, repo.parent) }),
  subscribers_count: 0,
  network_count: 0,
});
