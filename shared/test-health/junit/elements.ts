/** The elements and attributes of JUnit's XML that mean something here. */

export type Element =
  | "SUITES"
  | "SUITE"
  | "CASE"
  | "FAILURE"
  | "ERROR"
  | "SKIPPED"
  | "FLAKY_FAILURE"
  | "FLAKY_ERROR"
  | "RERUN_FAILURE"
  | "RERUN_ERROR"
  /** What a test printed: it may be large, and holds no results. */
  | "OUTPUT"
  | "OTHER";

const ELEMENTS: ReadonlyMap<string, Element> = new Map([
  ["testsuites", "SUITES"],
  ["testsuite", "SUITE"],
  ["testcase", "CASE"],
  ["failure", "FAILURE"],
  ["error", "ERROR"],
  ["skipped", "SKIPPED"],
  ["flakyFailure", "FLAKY_FAILURE"],
  ["flakyfailure", "FLAKY_FAILURE"],
  ["flakyError", "FLAKY_ERROR"],
  ["flakyerror", "FLAKY_ERROR"],
  ["rerunFailure", "RERUN_FAILURE"],
  ["rerunfailure", "RERUN_FAILURE"],
  ["rerunError", "RERUN_ERROR"],
  ["rerunerror", "RERUN_ERROR"],
  ["system-out", "OUTPUT"],
  ["system-err", "OUTPUT"],
]);

/** Whatever its prefix or case. */
export const elementOf = (name: string): Element => ELEMENTS.get(name) ?? ELEMENTS.get(localName(name)) ?? "OTHER";

const localName = (name: string): string => name.slice(name.lastIndexOf(":") + 1).toLowerCase();

/** As a reader of XML hands them over. */
export type Written = Readonly<Record<string, string>>;

export type Attributes = {
  readonly name?: string;
  readonly classname?: string;
  readonly className?: string;
  readonly file?: string;
  readonly filepath?: string;
  readonly id?: string;
  readonly hostname?: string;
  readonly time?: string;
  readonly timestamp?: string;
  readonly status?: string;
  readonly result?: string;
  readonly message?: string;
  readonly type?: string;
  readonly tests?: string;
  readonly failures?: string;
  readonly errors?: string;
  readonly skipped?: string;
  readonly disabled?: string;
};

/** The attributes by the names above, whatever their prefix or case where there is no plain `name` among them. */
export function attributesOf(written: Written): Attributes {
  if (written["name"] !== undefined) return written;
  const plain: Record<string, string> = {};
  for (const [name, value] of Object.entries(written)) {
    const local = localName(name);
    if (name === local || !(local in written)) plain[local] = value;
  }
  return plain;
}
