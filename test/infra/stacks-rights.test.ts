/** Each function's policy: as little as it needs, written down in needs.ts, and nothing for everybody. */
import { describe, expect, test } from "vitest";
import { needsOf } from "../../infra/needs.ts";
import { allRoutes } from "../../shared/api/routes.ts";
import { PARTITIONS } from "../../shared/table/partitions.ts";
import { allowed, keysOf, nameOfPattern, table } from "./rights.ts";
import { functionsOf, type Statement, stageNames, synthesise } from "./template.ts";

const READS = new Set(["dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:Query"]);

const WITH_GITHUB = [
  "get-test-details",
  "list-failing-tests",
  "list-quarantined-tests",
  "list-unhealthy-tests",
  "receive-github-webhook",
  "run-effects",
  "set-impacted-targets",
  "submit-pull-request",
  "sweep",
];

/** Whoever asks GitHub counts that, and keeps which repository he found there; also to answer what only reads. */
const ABOUT_GITHUB: readonly string[] = [
  PARTITIONS.githubBudget,
  PARTITIONS.githubRepositories,
  PARTITIONS.githubNames,
];
const isAboutGitHub = (statement: Statement): boolean =>
  keysOf(statement).every((pattern) => ABOUT_GITHUB.includes(pattern));

describe.each(stageNames)("rights of stage %s", (stage) => {
  const all = functionsOf(synthesise(stage));

  test("nobody scans, and no action is a wildcard", () => {
    expect(all.length).toBeGreaterThan(35);
    const actions = all.flatMap(({ statements }) => statements.flatMap(({ Action }) => Action));
    expect(actions.filter((action) => action.includes("*") || /Scan|PartiQL|Batch.*Write/u.test(action))).toEqual([]);
  });

  test("what has no resource that could be named is all that anybody may do anywhere", () => {
    const anywhere = all.flatMap(({ name, statements }) =>
      statements
        .filter(({ Resource }) => Resource.includes("*"))
        .flatMap(({ Action }) => Action)
        .map((action) => `${action.startsWith("xray:") ? "all" : name} ${action}`),
    );
    expect([...new Set(anywhere)].toSorted()).toEqual([
      "advance-queue dynamodb:ListStreams",
      "all xray:PutTelemetryRecords",
      "all xray:PutTraceSegments",
      "run-effects dynamodb:ListStreams",
    ]);
  });

  test("every right to the table is one to kinds of partitions", () => {
    const free = all.flatMap((one) =>
      table(one).filter((statement) => keysOf(statement).some((key) => !nameOfPattern.has(key))),
    );
    expect(free).toEqual([]);
    const conditions = all.flatMap((one) => table(one).map(({ Condition }) => Object.keys(Condition ?? {}).join()));
    expect([...new Set(conditions)]).toEqual(["ForAllValues:StringLike"]);
  });

  test("a route that only reads may not write, one that needs no table has no right to it", () => {
    const byName = new Map(all.map((one) => [one.name, one]));
    for (const { id, tableAccess } of allRoutes) {
      const one = byName.get(id);
      const actions = one === undefined ? ["it is not deployed"] : table(one).flatMap(({ Action }) => Action);
      if (tableAccess === "none") expect([id, actions]).toEqual([id, []]);
      const others = one === undefined ? [] : table(one).filter((statement) => !isAboutGitHub(statement));
      const writes = others.flatMap(({ Action }) => Action).filter((action) => !READS.has(action));
      if (tableAccess === "read") expect([id, writes]).toEqual([id, []]);
      if (tableAccess === "write") expect([id, actions.some((action) => !READS.has(action))]).toEqual([id, true]);
    }
  });

  test("tokens are read by the authorizer, by hash and in their list, which reads nothing else, and by nobody else", () => {
    const readers = all.filter((one) =>
      table(one).some((statement) =>
        keysOf(statement).some((key) => key === PARTITIONS.tokenByHash || key === PARTITIONS.tokens),
      ),
    );
    expect(readers.map(({ name }) => name)).toEqual(["authorize-token"]);
    const rights = readers
      .flatMap((one) => table(one))
      .map(({ Action, ...rest }) => [Action, keysOf({ Action, ...rest })]);
    expect(rights).toEqual([[["dynamodb:GetItem"], ["*#TOKENS", "=TOKEN#*"]]]);
  });

  test("the App's secret is read by those that talk to GitHub or hear it, and by nobody else", () => {
    const { data } = synthesise(stage).parts;
    const [secret] = data.of("SecretsManager::Secret");
    const readers = all.filter(({ statements }) => JSON.stringify(statements).includes("secretsmanager:"));
    expect(readers.map(({ name }) => name).toSorted()).toEqual(WITH_GITHUB);
    for (const { name, statements, properties } of all) {
      const granted = statements.filter(({ Action }) => Action.some((action) => action.startsWith("secretsmanager:")));
      const actions = granted.flatMap(({ Action }) => Action);
      const isReader = WITH_GITHUB.includes(name);
      expect([name, actions]).toEqual([name, isReader ? ["secretsmanager:GetSecretValue"] : []]);
      // The one secret of the stage, by the output of the stack that holds it.
      const resources = granted.flatMap(({ Resource }) => Resource.map((one) => JSON.stringify(one)));
      expect([name, resources.filter((one) => !one.includes(secret?.id ?? "?"))]).toEqual([name, []]);
      expect([name, resources.length]).toEqual([name, isReader ? 1 : 0]);
      expect([name, "MAINLINE_GITHUB_SECRET_ARN" in properties.Environment.Variables]).toEqual([name, isReader]);
    }
  });

  test("each role is one function's, and says what needs.ts says", () => {
    expect(new Set(all.map(({ properties }) => JSON.stringify(properties.Role))).size).toBe(all.length);
    for (const one of all) {
      const { table: rights, bucket = {}, gitHub, schedules } = needsOf(one.name);
      const folders = Object.entries(bucket).map(([folder, some]) => [`${folder}/`, some] as const);
      const wanted = [...Object.entries(rights), ...folders].flatMap(([where, some]) =>
        some.map((call) => `${call} ${where}`),
      );
      const clock = schedules === true ? ["CreateSchedule", "UpdateSchedule", "DeleteSchedule"] : [];
      expect([one.name, allowed(one).toSorted()]).toEqual([
        one.name,
        [
          ...wanted,
          ...clock.map((call) => `${call} schedules`),
          ...(gitHub === true ? ["GetSecretValue secret"] : []),
        ].toSorted(),
      ]);
    }
  });
});
