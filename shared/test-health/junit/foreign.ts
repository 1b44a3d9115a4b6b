/** What is sent in place of JUnit's XML, by name, and what to send. */
import { quoted } from "./issues.ts";

const CONVERT = "Send JUnit XML";

/** By the name of the root element as it is written. Some hold elements that are called as JUnit's and are not. */
const ROOTS: ReadonlyMap<string, string> = new Map([
  [
    "test-run",
    `This is an NUnit 3 report. ${CONVERT}: \`dotnet test --logger junit\` with the package JunitXml.TestLogger`,
  ],
  ["test-results", `This is an NUnit 2 report. ${CONVERT}: NUnit's console has a transformation for it`],
  ["assemblies", `This is an xUnit.net report. ${CONVERT}: \`dotnet test --logger junit\` with JunitXml.TestLogger`],
  ["assembly", `This is an xUnit.net report. ${CONVERT}: \`dotnet test --logger junit\` with JunitXml.TestLogger`],
  ["TestRun", `This is a TRX file of Visual Studio's tests. ${CONVERT}: \`trx2junit\`, or JunitXml.TestLogger`],
  ["testng-results", `This is TestNG's own report. ${CONVERT}: TestNG writes it to \`junitreports/\``],
  ["robot", `This is Robot Framework's own report. ${CONVERT}: run it with \`--xunit\``],
  ["Site", `This is CTest's own report. ${CONVERT}: run it with \`--output-junit\``],
  ["Catch", `This is Catch2's own report. ${CONVERT}: run it with \`--reporter junit\``],
  ["Catch2TestRun", `This is Catch2's own report. ${CONVERT}: run it with \`--reporter junit\``],
  ["doctest", `This is doctest's own report. ${CONVERT}: run it with \`--reporters=junit\``],
  ["TestLog", `This is Boost.Test's own log. ${CONVERT}: run it with \`--logger=JUNIT\``],
  ["TestResult", `This is Boost.Test's own report. ${CONVERT}: run it with \`--logger=JUNIT\``],
  ["TestCase", `This is Qt Test's own report. ${CONVERT}: run it with \`-o results.xml,junitxml\``],
  ["testExecutions", `This is SonarQube's generic test report. ${CONVERT}`],
  ["coverage", `This is a coverage report. ${CONVERT}`],
  ["report", `This is a coverage report of JaCoCo. ${CONVERT}`],
  ["checkstyle", `This is a Checkstyle report. ${CONVERT}`],
  ["html", `This is an HTML page: perhaps an error or a login page was saved in place of the report. ${CONVERT}`],
]);

/** Why a file with this root is not JUnit; null where nothing speaks against it. */
export function foreignRoot(root: string): string | null {
  const what = ROOTS.get(root) ?? (root.toLowerCase() === "html" ? ROOTS.get("html") : undefined);
  return what === undefined ? null : `${what}.`;
}

/** Markup without any of JUnit's elements; `before` is the text in front of it, `root` the first element, null without one. */
export function unknownMarkup(root: string | null, before: string): string {
  const other = otherFormat(before.trim());
  if (other !== null) return other;
  if (root === null) return `There is no element in the file, or it ends before the first is complete. ${CONVERT}.`;
  const name = root.slice(0, NAME_CHARACTERS_MAX);
  return `This is no JUnit XML: it begins with <${name}>, and there is neither testsuite nor testcase in it. ${CONVERT}.`;
}

const NAME_CHARACTERS_MAX = 100;

/** A file without markup: `text` is how it begins. */
export function noMarkup(bytes: Uint8Array, text: string): string {
  const start = text.trim();
  if (bytes.length === 0)
    return `The file is empty (0 bytes): the tests may have been killed before they wrote it. ${CONVERT}.`;
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) return "This is gzip. Unpack it first.";
  if (start === "") return `There is nothing in the file but space. ${CONVERT}.`;
  return otherFormat(start) ?? `This is no XML: it begins with ${quoted(start)}. ${CONVERT}.`;
}

function otherFormat(start: string): string | null {
  if (start.startsWith("PK\u0003\u0004")) return "This is a zip archive. Send the files in it.";
  if (/^(?:TAP version|1\.\.\d+|(?:not )?ok\b)/u.test(start))
    return `This is TAP (Test Anything Protocol). ${CONVERT}: \`tap-junit\` converts it.`;
  return /^[[{]/u.test(start) ? `This is JSON. ${CONVERT}.` : null;
}
