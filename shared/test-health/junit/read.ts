/** Reads JUnit's XML, in whatever dialect and state it comes. */
import type { Collected } from "./collector.ts";
import { foreignRoot, noMarkup, unknownMarkup } from "./foreign.ts";
import { createIssues, type Issues, listOf, TOP } from "./issues.ts";
import { readLeniently } from "./lenient.ts";
import { hiddenRetries } from "./producers.ts";
import type { Report } from "./report.ts";
import { RERUN_UNKNOWN, withoutReruns } from "./reruns.ts";
import { openSource, type Source } from "./source.ts";
import { readStrictly } from "./strict.ts";
import { withVariants } from "./variants.ts";

/**
 * What a JUnit file says. Never throws, takes time in proportion to its bytes, of which 20 MiB are read, and looks at
 * nothing but them: entities are not expanded, and nothing they name is fetched. What is no JUnit is refused by name; a
 * report without a case has issues that say so.
 */
export function readJUnit(bytes: Uint8Array): Report {
  const issues = createIssues();
  const { source, before } = openSource(bytes, issues);
  if (source === null) return { kind: "REFUSED", what: noMarkup(bytes, before), issues: listOf(issues) };
  const collected = collect(source, issues);
  const root = collected.root();
  const what = root === null ? null : foreignRoot(root);
  if (what !== null) return { kind: "REFUSED", what, issues: listOf(issues) };
  if (!collected.isJUnit()) return { kind: "REFUSED", what: unknownMarkup(root, before), issues: listOf(issues) };
  return reportOf(collected, issues);
}

/** Read strictly, and where that fails leniently as well; of the two, what found more cases. */
function collect(source: Source, issues: Issues): Collected {
  const strict = readStrictly(source);
  const { problem } = strict;
  if (problem === null) return strict.collector.collected;
  if (!source.isCut || !problem.isAtEnd)
    issues.add(problem.at, `This is not well-formed XML (${problem.what}); it was read as far as it makes sense.`);
  strict.collector.end();
  const lenient = readLeniently(source);
  const found = lenient.collected.list.cases.length;
  return found >= strict.collector.collected.list.cases.length ? lenient.collected : strict.collector.collected;
}

function reportOf(collected: Collected, issues: Issues): Report {
  const { list, suites } = collected;
  const producer = suites.producer();
  if (list.cases.length === 0) issues.add(TOP, "There is no test case in this file.");
  if (producer !== null && !collected.showsRetries() && list.cases.length > 0) issues.add(TOP, hiddenRetries(producer));
  const known = producer === "pytest" ? withoutReruns(list.cases, list.around) : null;
  if (known !== null) issues.add(TOP, RERUN_UNKNOWN);
  return {
    kind: "READ",
    cases: known ?? withVariants(list.cases, list.around, producer),
    counts: { ...list.counts },
    startedAt: suites.startedAt(),
    issues: listOf(issues, collected.issues),
  };
}
