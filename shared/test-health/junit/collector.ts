/** Makes cases of elements as a reader of XML meets them, and gathers what is wrong on the way. */
import { ATTRIBUTES_MAX, CASES_MAX, DEPTH_MAX, DEPTH_STOP } from "./caps.ts";
import { type CaseList, createCaseList } from "./case-list.ts";
import { type Attributes, attributesOf, type Element, elementOf, type Written } from "./elements.ts";
import { createIssues, type Issues, type Place } from "./issues.ts";
import { createSuiteStack, type SuiteStack } from "./suite-stack.ts";
import { type Gathered, gather, isTooLong, shortened } from "./text.ts";

/** What a reader of XML calls, in the order of the file. */
export type Collector = {
  readonly open: (name: string, attributes: Written) => void;
  /** An attribute of the element that is about to be opened. */
  readonly attribute: () => void;
  readonly text: (text: string) => void;
  /** The element that was opened last, and is not closed yet. */
  readonly close: () => void;
  /** The file ended, or is not read to its end. */
  readonly end: () => void;
  /** Whether text is of use now: a reader may leave out all other. */
  readonly wantsText: () => boolean;
  /** Nothing more is taken. */
  readonly isFull: () => boolean;
  readonly collected: Collected;
};

export type Collected = {
  readonly list: CaseList;
  readonly suites: SuiteStack;
  readonly issues: Issues;
  /** The first element, as written; null where there is none. */
  readonly root: () => string | null;
  /** There is a testsuites, testsuite or testcase. */
  readonly isJUnit: () => boolean;
  /** The file tells of attempts before the last one. */
  readonly showsRetries: () => boolean;
};

/** A failure or the like that is open, at this depth. */
type Note = Gathered & { readonly element: Element; readonly depth: number; readonly attributes: Attributes };

const RETRIES: ReadonlySet<Element> = new Set(["FLAKY_FAILURE", "FLAKY_ERROR", "RERUN_FAILURE", "RERUN_ERROR"]);
const SUITES: ReadonlySet<Element> = new Set(["SUITES", "SUITE"]);

/** `where`: how far the reader is. It is asked only where something is to be said. */
export function createCollector(where: () => Place): Collector {
  const issues = createIssues();
  const shorten = (value: string | undefined): string => {
    if (value === undefined || !isTooLong(value)) return value ?? "";
    issues.once(where(), "An attribute is longer than 64 KB; the rest of it was left out.");
    return shortened(value);
  };
  const list = createCaseList(issues, where, shorten);
  const suites = createSuiteStack(issues, shorten);
  /** Those that are open, but for the ones that are too deep. */
  const elements: Element[] = [];
  let depth = 0;
  let attributeCount = 0;
  let root: string | null = null;
  let note: Note | null = null;
  /** How deep the output is that is open; 0 where none is. */
  let outputDepth = 0;
  let isJUnit = false;
  let isFull = false;
  let showsRetries = false;

  const fill = (message: string): void => {
    issues.add(where(), message);
    isFull = true;
  };

  const openNote = (element: Element, attributes: Attributes): void => {
    const parent = elements.at(-1);
    if (parent !== undefined && SUITES.has(parent) && (element === "FAILURE" || element === "ERROR"))
      issues.add(where(), `There is a ${element.toLowerCase()} of a suite, and not of a test: it was not counted.`);
    if (parent !== "CASE") return;
    if (RETRIES.has(element)) showsRetries = true;
    const onFull = () => issues.once(where(), "The text of a failure is longer than 64 KB; the rest was left out.");
    note = { element, depth, attributes, ...gather(onFull) };
  };

  const closeNote = ({ element, attributes, text }: Note): void => {
    const given = (value: string | undefined): string | null => shorten(value) || null;
    list.tell(element, { type: given(attributes.type), message: given(attributes.message), text: text() });
    note = null;
  };

  const openKnown = (element: Element, written: Written): void => {
    switch (element) {
      case "SUITES":
        return suites.openRoot(attributesOf(written), list.counts, where());
      case "SUITE":
        return suites.open(attributesOf(written), list.counts, where());
      case "CASE":
        if (list.counts.tests >= CASES_MAX) return fill("There are more than 250,000 cases; the others were not read.");
        return list.open(attributesOf(written), suites.around());
      case "OUTPUT":
        outputDepth = depth;
        return;
      case "OTHER":
        return;
      case "FAILURE":
      case "ERROR":
      case "SKIPPED":
      case "FLAKY_FAILURE":
      case "FLAKY_ERROR":
      case "RERUN_FAILURE":
      case "RERUN_ERROR":
        return openNote(element, attributesOf(written));
    }
  };

  const open = (name: string, written: Written): void => {
    if (isFull) return;
    attributeCount = 0;
    depth += 1;
    if (depth > DEPTH_MAX) {
      issues.once(where(), "Elements are nested deeper than 64; what is deeper was not read.");
      if (depth >= DEPTH_STOP) fill("Elements are nested deeper than 128; from here on nothing was read.");
      return;
    }
    const element = outputDepth > 0 ? "OTHER" : elementOf(name);
    if (depth === 1 && isJUnit && element !== "OTHER")
      issues.once(where(), "Another document begins in the same file; it was read as well.");
    root ??= name;
    isJUnit ||= element === "CASE" || SUITES.has(element);
    openKnown(element, written);
    elements.push(element);
  };

  const close = (): void => {
    if (isFull || depth === 0) return;
    if (depth <= DEPTH_MAX) {
      const element = elements.pop();
      if (note !== null && note.depth === depth) closeNote(note);
      if (outputDepth === depth) outputDepth = 0;
      if (element === "CASE") list.close();
      if (element === "SUITE" || element === "SUITES") suites.close(list.counts);
    }
    depth -= 1;
  };

  const wantsText = (): boolean => note !== null && outputDepth === 0 && note.element !== "SKIPPED";
  const end = (): void => {
    if (isFull) return;
    if (note !== null) closeNote(note);
    list.cutOff();
    isFull = true;
  };
  const attribute = (): void => {
    attributeCount += 1;
    if (attributeCount > ATTRIBUTES_MAX && !isFull)
      fill("An element has more than 1,000 attributes; from here on nothing was read.");
  };
  return {
    open,
    attribute,
    text: (text) => {
      if (!isFull && wantsText()) note?.add(text);
    },
    close,
    end,
    wantsText,
    isFull: () => isFull,
    collected: {
      list,
      suites,
      issues,
      root: () => root,
      isJUnit: () => isJUnit,
      showsRetries: () => showsRetries,
    },
  };
}
