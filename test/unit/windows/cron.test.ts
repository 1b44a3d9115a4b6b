import { describe, expect, it } from "vitest";
import { readCron } from "../../../shared/maintenance/cron.ts";
import { isTimeZone } from "../../../shared/maintenance/time-zone.ts";

const problems = (text: string): readonly string[] => {
  const read = readCron(text);
  return read.ok ? [] : read.problems;
};

describe("an expression of EventBridge", () => {
  it.each(["0 22 ? * FRI *", "cron(0 22 ? * FRI *)", " CRON( 0  22 ? * fri * ) "])("may be written as %s", (text) => {
    expect(readCron(text)).toEqual({ ok: true, cron: "0 22 ? * FRI *" });
  });

  it("says the days of the week beside # and L in numbers, as EventBridge documents them", () => {
    expect(readCron("0 22 ? * fri#3 *")).toEqual({ ok: true, cron: "0 22 ? * 6#3 *" });
    expect(readCron("0 22 ? * SUNL *")).toEqual({ ok: true, cron: "0 22 ? * 1L *" });
  });

  it.each([
    ["60 22 ? * FRI *", "minutes"],
    ["-1 22 ? * FRI *", "minutes"],
    ["0 24 ? * FRI *", "hours"],
    ["0 1,2, ? * FRI *", "hours"],
    ["0 22 32 * ? *", "day of month"],
    ["0 22 0 * ? *", "day of month"],
    ["0 22 32W * ? *", "day of month"],
    ["0 22 LW * ? *", "day of month"],
    ["0 22 1,L * ? *", "day of month"],
    ["0 22 1 13 ? *", "month"],
    ["0 22 1 JUNE ? *", "month"],
    ["0 22 1 ? ? *", "month"],
    ["0 22 ? * 8 *", "day of week"],
    ["0 22 ? * 0 *", "day of week"],
    ["0 22 ? * FRI-MON *", "day of week"],
    ["0 22 ? * MON#6 *", "day of week"],
    ["0 22 ? * MON#0 *", "day of week"],
    ["0 22 ? * 8L *", "day of week"],
    ["0 22 ? * FRI 1969", "year"],
    ["0 22 ? * FRI 2200", "year"],
    ["0/0 22 ? * FRI *", "minutes"],
    ["0/61 22 ? * FRI *", "minutes"],
    ["0/5/5 22 ? * FRI *", "minutes"],
    ["5-1 22 ? * FRI *", "minutes"],
    ["1-2-3 22 ? * FRI *", "minutes"],
    ["1e1 22 ? * FRI *", "minutes"],
    ["0 22 * * * *", "day of month and day of week"],
    ["0 22 ? * ? *", "day of month and day of week"],
    ["0 22 1 * FRI *", "day of month and day of week"],
  ])("%s is refused for its %s", (text, field) => {
    expect(problems(text)).toHaveLength(1);
    expect(problems(text)[0]).toMatch(new RegExp(`^${field}[ :]`, "u"));
  });

  it("is told all that is wrong at once", () => {
    expect(problems("60 24 32 13 8 2200")).toHaveLength(7);
  });

  it.each([
    "",
    "0 22 * * 5",
    "0 0 22 ? * FRI *",
    "rate(5 minutes)",
    "at(2026-01-01T00:00:00)",
    `${"0,".repeat(200)}0 22 ? * FRI *`,
  ])("%s is no six fields", (text) => {
    expect(problems(text)).toEqual([expect.stringContaining("six fields")]);
  });
});

describe("a time zone", () => {
  it.each(["UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Australia/Lord_Howe", "Etc/GMT+5"])(
    "may be %s",
    (name) => {
      expect(isTimeZone(name)).toBe(true);
    },
  );
  it.each(["", "Berlin", "+02:00", "Europe/Atlantis", "CET+1", "Europe/Berlin "])("is not %s", (name) => {
    expect(isTimeZone(name)).toBe(false);
  });
});
