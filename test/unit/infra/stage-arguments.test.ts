import { describe, expect, it } from "vitest";
import {
  checkDestroy,
  parseBackup,
  parseDeploy,
  parseDestroy,
  parseRestore,
} from "../../../infra/admin/stage-arguments.ts";
import { parseTokenCommand } from "../../../infra/admin/token-arguments.ts";
import { parseSmokeArguments } from "../../../infra/smoke/arguments.ts";
import { epochMs } from "../../../shared/kernel/time.ts";

describe("arguments", () => {
  it("of a deployment: everything but the stage has a default", () => {
    expect(parseDeploy(["--stage", "dev"])).toEqual({ stage: "dev", org: "main", yes: false, "no-bootstrap": false });
    expect(parseDeploy(["--stage=dev", "--yes", "--org", "acme", "--no-bootstrap"])).toMatchObject({
      org: "acme",
      yes: true,
      "no-bootstrap": true,
    });
  });

  it.each([
    [parseDeploy, [], /^--stage is required$/u],
    [parseDeploy, ["--stage", "dev", "--org", "Acme!"], /^--org must be 1 to 39 lower-case letters/u],
    [parseDeploy, ["--stage", "dev", "prod"], /^Unexpected argument 'prod'/u],
    [parseBackup, ["--stage", "dev", "--lsit"], /^Unknown option '--lsit'/u],
    [parseDestroy, ["--yes-i-mean", "dev"], /^--stage is required$/u],
    [parseRestore, ["--stage", "dev"], /one of --at, --latest and --backup$/u],
    [parseRestore, ["--stage", "dev", "--latest", "--at", "2027-01-31T12:00:00Z"], /one of --at, --latest/u],
    [parseRestore, ["--stage", "dev", "--at", "yesterday"], /^--at must be a time like/u],
    [parseRestore, ["--stage", "dev", "--at", "2027-13-31T12:00:00Z"], /^--at is no time there is$/u],
    [parseRestore, ["--stage", "dev", "--backup", "b"], /^--backup must be a backup's ARN/u],
    [parseRestore, ["--stage", "dev", "--latest", "--to", "a b"], /^--to must be the name of a table/u],
  ])("of %o that make no sense are refused in words: %j", (parse, args, message) => {
    expect(() => parse(args)).toThrow(message);
  });

  it("of a restore: the moment is read as it was meant, offset and all", () => {
    expect(parseRestore(["--stage", "dev", "--at", "2027-01-31T12:00:00+02:00"]).at).toEqual(
      new Date("2027-01-31T10:00:00Z"),
    );
  });

  it.each([
    [["--stage", "dev"], true, undefined],
    [["--stage", "dev", "--delete-data"], true, /for ever: add --yes-i-mean dev/u],
    [["--stage", "dev", "--delete-data", "--yes-i-mean", "prod"], true, /^--yes-i-mean prod is not --stage dev$/u],
    [["--stage", "dev", "--delete-data", "--yes-i-mean", "dev"], true, undefined],
    [["--stage", "dev"], false, /for ever: add --yes-i-mean dev/u],
    [["--stage", "dev", "--yes-i-mean", "prod"], false, /is not --stage dev$/u],
    [["--stage", "dev", "--yes-i-mean", "dev"], false, undefined],
  ])("of a deletion, %j of a stage that keeps its data: %s", (args, keepsData, refusal) => {
    const check = () => checkDestroy(parseDestroy(args), keepsData);
    if (refusal === undefined) expect(check).not.toThrow();
    else expect(check).toThrow(refusal);
  });

  it("of a token: a stage or a table, never both", () => {
    const parse = (...args: readonly string[]) => parseTokenCommand(["list", "--org", "acme", ...args], epochMs(0));
    expect(parse("--stage", "prod")).toMatchObject({ stage: "prod" });
    expect(() => parse("--stage", "prod", "--table", "mainline")).toThrow(/either --stage or --table$/u);
  });

  it("of a smoke test: what runs on this machine is no gateway, and its organization another", () => {
    const parse = (url: string, ...more: readonly string[]) =>
      parseSmokeArguments(["--url", url, "--token", "t", ...more]);
    expect(parse("http://localhost:8080/v1/")).toMatchObject({
      url: "http://localhost:8080/v1",
      where: "local",
      org: "local",
    });
    expect(parse("https://mq.example.org/v1")).toMatchObject({ where: "gateway", org: "main" });
    expect(parse("https://mq.example.org/v1", "--org", "acme").org).toBe("acme");
  });
});
