/*
 * Where in its repository a test's file is. A report names files as its runner saw them: from the working directory,
 * from the root of the machine that ran it, or not at all. A wrong owner is worse than none, so what is not known for
 * certain is null.
 */

const PATH_MAX = 1_024;

/**
 * A file's path from its repository's root, divided by `/`.
 *
 * @param file as it stands in the report; a line and column at its end are taken off
 * @returns null when it does not say: a class, an address, a compiled file, a source file below its package only, or
 *   a path of a machine whose checkout is not known
 */
export function repositoryPathOf(file: string): string | null {
  if (file.length > PATH_MAX) return null;
  const slashed = file.trim().replaceAll("\\", "/").replace(LINE, "");
  const local = /^file:\/\//iu.test(slashed)
    ? slashed.replace(/^file:\/\/(?:localhost)?(?:\/(?=[A-Za-z]:\/))?/iu, "")
    : slashed;
  const relative = /^(?:\/|[A-Za-z]:)/u.test(local) ? belowCheckout(local) : local;
  const path = relative === null ? null : withoutDots(relative);
  return path === null || path === "" || isNoSource(path) ? null : path;
}

const LINE = /:\d{1,9}(?::\d{1,9})?$/u;

/** Where checkouts are on machines that are somebody's service; each takes parts that only it knows. */
const CHECKOUTS: readonly RegExp[] = [
  // GitHub: the repository's name twice, on runners of theirs and of one's own, on Windows in `D:\a`.
  /^(?:\/home\/runner\/work|\/Users\/runner\/work|\/__w|(?:.*\/)?actions-runner\/_work|[A-Za-z]:\/a)\/([^/]+)\/\1\//u,
  /^\/github\/workspace\//u,
  // Azure Pipelines.
  /^(?:\/home\/vsts\/work|\/Users\/runner\/work|\/__w|[A-Za-z]:\/a)\/\d+\/s\//u,
  // CircleCI, Travis, Bitbucket, Bitrise, Codespaces and dev containers.
  /^\/home\/circleci\/(?:project|repo)\//u,
  /^\/home\/travis\/build\/[^/]+\/[^/]+\//u,
  /^\/opt\/atlassian\/pipelines\/agent\/build\//u,
  /^\/bitrise\/src\//u,
  /^\/workspaces\/[^/]+\//u,
  // Buildkite, Jenkins (a job; folders are not known), AWS CodeBuild.
  /^\/var\/lib\/buildkite-agent\/builds\/[^/]+\/[^/]+\/[^/]+\//u,
  /^\/var\/(?:lib\/jenkins|jenkins_home)\/workspace\/[^/]+\//u,
  /^\/codebuild\/output\/src\d+\/src\/(?:github\.com|bitbucket\.org|gitlab\.com)\/[^/]+\/[^/]+\//u,
  // Bazel, wherever it keeps its trees.
  /^.*\/(?:execroot|[^/]+\.runfiles)\/(?:_main|__main__)\/(?!bazel-out\/|external\/)/u,
];

function belowCheckout(path: string): string | null {
  const checkout = CHECKOUTS.find((one) => one.test(path));
  return checkout === undefined ? null : path.replace(checkout, "");
}

/** Without `.` and `..`; null when it leaves the repository, or is no path. */
function withoutDots(path: string): string | null {
  if (path.startsWith("/") || NO_PATH.test(path)) return null;
  const kept: string[] = [];
  for (const part of path.split("/")) {
    if (part === ".." && kept.pop() === undefined) return null;
    if (part !== "" && part !== "." && part !== "..") kept.push(part);
  }
  return kept.join("/");
}

/** An address (`webpack://…`), a command, a line of text. */
// oxlint-disable-next-line no-control-regex -- what no path holds
const NO_PATH = /^[A-Za-z][\w+.-]+:|^~|[\u0000-\u001F<>|"]/u;

/** A class (`com.acme.FooTest`, `FooTest$Inner`), or what was made of a source. */
const CLASS = /^(?:[a-z_]\w*\.)*[A-Z][\w$]*$|\$|\.(?:class|jar|dll|exe|pyc|o)$/u;
const JVM_SOURCE = /\.(?:java|kts?|scala|groovy|clj)$/u;
/** Packages begin with a domain turned round, or are the whole of what is known: `FooTest.java`. */
const PACKAGE = /^(?:(?:com|org|net|io|edu|gov|dev|app|me|co|ai|eu|de|fr|uk|us|jp|cn|ru|br|nl|se|ch)\/|[^/]+$)/u;

const isNoSource = (path: string): boolean => CLASS.test(path) || (JVM_SOURCE.test(path) && PACKAGE.test(path));
