/** One seed, with or without retries: every rule over every test. */
import { DAY_MS, type EpochMs, HOUR_MS, MINUTE_MS } from "../../../shared/kernel/time.ts";
import { DEFAULT_RULES } from "../../../shared/test-health/detect/rules.ts";
import { drawsOf, mixAll } from "../policies/random.ts";
import type { MeasuredTest } from "./dataset.ts";
import { type Course, courseOf, noOutages, type Outages, outagesOf, passesOf } from "./mainline.ts";
import { type Outage, populationOf, type SimulatedTest, type World } from "./population.ts";
import { RIVALS, sightOf } from "./rivals.ts";
import { BEGIN, scheduleOf, type Upload } from "./schedule.ts";

export const MAINLINE = "Mainline, defaults";

/** When a rule first called a test FLAKY, and the test. */
export type Call = {
  readonly test: SimulatedTest;
  readonly at: EpochMs | null;
  readonly firstFailureAt: EpochMs | null;
};

export type Simulation = {
  readonly seed: number;
  readonly retries: number;
  readonly uploads: number;
  readonly calls: ReadonlyMap<string, readonly Call[]>;
  /** Uploads within the outage, and how many of those that failed far above normal were told. */
  readonly outage: { readonly uploads: number; readonly told: number };
  /**
   * What the outage changed: tests that are not flaky with another course, flaky ones called only with it, and flaky
   * ones called only without it: what they did in those uploads is not known.
   */
  readonly changed: { readonly others: number; readonly gained: number; readonly lost: number };
};

export type Chosen = { readonly seed: number; readonly retries: number; readonly outageMinutes: number };

export function simulate(measured: readonly MeasuredTest[], { seed, retries, outageMinutes }: Chosen): Simulation {
  const uploads = scheduleOf(seed);
  const outage = outageOf(seed, outageMinutes);
  const world: World = { seed, uploads, retries, outage };
  const tests = populationOf(measured, world);
  const outages = outagesOf(tests, uploads);
  const quiet = populationOf(measured, { ...world, outage: null });
  const quietCourses = coursesOf(quiet, uploads, noOutages(tests, uploads), () => undefined);
  // Until the outage nothing differs.
  const courses = coursesOf(tests, uploads, outages, (at) => {
    const course = quietCourses[at];
    return (course?.calledAt ?? Number.POSITIVE_INFINITY) < outage.from ? course : undefined;
  });
  const sight = sightOf(uploads);
  const firstFailureAt = quiet.map(({ failures }) => uploads[failures[0]?.upload ?? -1]?.at ?? null);
  const callsOf = (rule: (test: SimulatedTest, at: number) => EpochMs | null): readonly Call[] =>
    tests.map((test, at) => ({ test, at: rule(test, at), firstFailureAt: firstFailureAt[at] ?? null }));
  const calls = new Map([[MAINLINE, callsOf((_, at) => courses[at]?.calledAt ?? null)]]);
  for (const [name, rival] of Object.entries(RIVALS))
    calls.set(
      name,
      callsOf((test) => rival(test, sight)),
    );
  return {
    seed,
    retries,
    uploads: uploads.length,
    calls,
    outage: toldOf(outages, uploads, outage),
    changed: changedOf(tests, courses, quietCourses),
  };
}

/** At some time of the working hours, in the second to the fifth week. */
function outageOf(seed: number, minutes: number): Outage {
  const draw = drawsOf(mixAll(seed, 5));
  const day = 7 * (1 + Math.floor(4 * draw())) + Math.floor(5 * draw());
  const from = BEGIN + day * DAY_MS + (10 + 7 * draw()) * HOUR_MS;
  return { from, until: from + minutes * MINUTE_MS };
}

/**
 * A test that never failed but in what is known to be an outage is HEALTHY, and not followed; those of a project that
 * always fail have one course.
 */
function coursesOf(
  tests: readonly SimulatedTest[],
  uploads: readonly Upload[],
  outages: Outages,
  knownOf: (at: number) => Course | undefined,
): readonly Course[] {
  const passes = passesOf(uploads, outages);
  const broken = new Map<string, Course>();
  return tests.map((test, at) => {
    const known = knownOf(at) ?? (test.failureProbability === 1 ? broken.get(test.project) : undefined);
    if (known !== undefined) return known;
    const flags = outages.get(test.project) ?? [];
    if (!test.failures.some(({ upload }) => flags[upload] !== true)) return HEALTHY;
    const course = courseOf(test, passes.get(test.project) ?? [], DEFAULT_RULES);
    if (test.failureProbability === 1) broken.set(test.project, course);
    return course;
  });
}

const HEALTHY: Course = { calledAt: null, statuses: ["HEALTHY"] };

function toldOf(outages: Outages, uploads: readonly Upload[], { from, until }: Outage): Simulation["outage"] {
  const within = [...outages.values()].flatMap((flags) => flags.filter((_, at) => isWithin(uploads[at], from, until)));
  return { uploads: within.length, told: within.filter(Boolean).length };
}

const isWithin = (upload: Upload | undefined, from: number, until: number): boolean =>
  upload !== undefined && upload.at >= from && upload.at < until;

function changedOf(
  tests: readonly SimulatedTest[],
  courses: readonly Course[],
  quiet: readonly Course[],
): Simulation["changed"] {
  const isCalled = (of: readonly Course[], at: number): boolean => (of[at]?.calledAt ?? null) !== null;
  const flaky = [...tests.keys()].filter((at) => tests[at]?.kind === "flaky");
  const others = [...tests.keys()].filter((at) => tests[at]?.kind !== "flaky");
  return {
    others: others.filter((at) => courses[at]?.statuses.join() !== quiet[at]?.statuses.join()).length,
    gained: flaky.filter((at) => isCalled(courses, at) && !isCalled(quiet, at)).length,
    lost: flaky.filter((at) => !isCalled(courses, at) && isCalled(quiet, at)).length,
  };
}
