import { Cron } from "croner";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { epochMs, HOUR_MS, later, toRfc3339 } from "../../../shared/kernel/time.ts";
import { type Field, FIELDS, spelled } from "../../../shared/maintenance/cron-fields.ts";
import { occurrences } from "../../../shared/maintenance/occurrences.ts";
import { everyMinute, rememberingClock } from "./brute-force.ts";
import { at, cronOf, fitsTheCalendar, until } from "./calendar.ts";
import { calendar, daily } from "./expressions.ts";

function next(text: string, timeZone: string, after: string, count: number): readonly string[] {
  const found: string[] = [];
  for (const one of occurrences({ cron: cronOf(text), timeZone }, at(after)))
    if (found.push(toRfc3339(one)) === count) break;
  return found;
}

describe("occurrences of a cron expression", () => {
  it.each([
    [
      "30 2 * * ? *",
      "Europe/Berlin",
      "2026-03-28T00:00Z",
      ["2026-03-28T01:30", "2026-03-30T00:30", "2026-03-31T00:30"],
    ],
    [
      "30 2 * * ? *",
      "Europe/Berlin",
      "2026-10-24T00:00Z",
      ["2026-10-24T00:30", "2026-10-25T00:30", "2026-10-26T01:30"],
    ],
    [
      "0/30 1-3 29 3 ? *",
      "Europe/Berlin",
      "2026-03-28T00:00Z",
      ["2026-03-29T00:00", "2026-03-29T00:30", "2026-03-29T01:00"],
    ],
    [
      "30 2 * * ? *",
      "America/New_York",
      "2026-03-07T12:00Z",
      ["2026-03-09T06:30", "2026-03-10T06:30", "2026-03-11T06:30"],
    ],
    [
      "30 1 * * ? *",
      "America/New_York",
      "2026-10-31T12:00Z",
      ["2026-11-01T05:30", "2026-11-02T06:30", "2026-11-03T06:30"],
    ],
    [
      "45 1 * * ? *",
      "Australia/Lord_Howe",
      "2026-04-03T16:00Z",
      ["2026-04-04T14:45", "2026-04-05T15:15", "2026-04-06T15:15"],
    ],
    [
      "15 2 * * ? *",
      "Australia/Lord_Howe",
      "2026-10-02T16:00Z",
      ["2026-10-04T15:15", "2026-10-05T15:15", "2026-10-06T15:15"],
    ],
    [
      "0 22 ? * FRI *",
      "Asia/Kolkata",
      "2026-11-21T00:00Z",
      ["2026-11-27T16:30", "2026-12-04T16:30", "2026-12-11T16:30"],
    ],
    ["0 12 29 2 ? *", "UTC", "2026-01-01T00:00Z", ["2028-02-29T12:00", "2032-02-29T12:00", "2036-02-29T12:00"]],
    ["0 12 29 2 ? *", "UTC", "2097-01-01T00:00Z", ["2104-02-29T12:00", "2108-02-29T12:00", "2112-02-29T12:00"]],
    ["0 12 L * ? *", "UTC", "2028-01-31T13:00Z", ["2028-02-29T12:00", "2028-03-31T12:00", "2028-04-30T12:00"]],
    ["0 12 31W * ? *", "UTC", "2026-01-01T00:00Z", ["2026-01-30T12:00", "2026-03-31T12:00", "2026-05-29T12:00"]],
    ["0 12 ? * 6L *", "UTC", "2026-01-01T00:00Z", ["2026-01-30T12:00", "2026-02-27T12:00", "2026-03-27T12:00"]],
    ["0 12 ? * MON#5 *", "UTC", "2026-01-01T00:00Z", ["2026-03-30T12:00", "2026-06-29T12:00", "2026-08-31T12:00"]],
    ["0 0 1 1 ? 2030/5", "UTC", "2026-01-01T00:00Z", ["2030-01-01T00:00", "2035-01-01T00:00", "2040-01-01T00:00"]],
  ])("%s in %s after %s", (text, timeZone, after, expected) => {
    expect(next(text, timeZone, after, 3)).toEqual(expected.map((one) => `${one}:00.000Z`));
  });

  it("end when the years do, and there are none of what never comes", () => {
    expect(next("0 0 1 1 ? 2027-2028", "UTC", "2026-06-01T00:00Z", 10)).toHaveLength(2);
    expect(next("0 0 31 2 ? *", "UTC", "2026-06-01T00:00Z", 10)).toEqual([]);
    expect(next("0 0 1 1 ? 2026", "UTC", "2026-06-01T00:00Z", 10)).toEqual([]);
  });

  it("come after the moment that is asked for, to the millisecond", () => {
    expect(next("0 * * * ? *", "UTC", "2026-06-01T10:00:00.000Z", 1)).toEqual(["2026-06-01T11:00:00.000Z"]);
    expect(next("0 * * * ? *", "UTC", "2026-06-01T09:59:59.999Z", 1)).toEqual(["2026-06-01T10:00:00.000Z"]);
    expect(next("30 1 * * ? *", "America/New_York", "2026-11-01T06:00Z", 1)).toEqual(["2026-11-02T06:30:00.000Z"]);
  });
});

/** Days around which clocks change, of all kinds that are in force: an hour, half an hour, at midnight, never. */
const CHANGES = [
  ["Europe/Berlin", "2026-03-29T00:00Z"],
  ["Europe/Berlin", "2026-10-25T00:00Z"],
  ["America/New_York", "2026-03-08T00:00Z"],
  ["America/New_York", "2026-11-01T00:00Z"],
  ["Australia/Lord_Howe", "2026-04-04T12:00Z"],
  ["Australia/Lord_Howe", "2026-10-03T12:00Z"],
  ["Asia/Kolkata", "2026-06-01T00:00Z"],
  ["Africa/Cairo", "2026-04-23T12:00Z"],
  ["America/Santiago", "2026-09-06T00:00Z"],
  ["Pacific/Apia", "2011-12-30T00:00Z"],
] as const;

describe("any expression", () => {
  it.each(CHANGES)("means in %s around %s what asking for every minute says", (timeZone, day) => {
    const clock = rememberingClock(timeZone);
    const offset = fc.integer({ min: -24 * 60 * 60_000, max: 24 * 60 * 60_000 });
    fc.assert(
      fc.property(daily, offset, (expression, ms) => {
        const after = later(at(day), ms);
        const end = later(after, 30 * HOUR_MS);
        expect(until(expression.text, timeZone, after, end)).toEqual(everyMinute(expression.asks, clock, after, end));
      }),
      { numRuns: 15 },
    );
  });

  // occurrences.slow.test.ts asks for more of them.
  it("fits the days that the calendar says, over seven years", () => {
    fitsTheCalendar(60);
  });

  it("comes when croner says, which knows the same calendar, up to the last year", () => {
    const start = fc.integer({ min: at("2024-01-01T00:00Z"), max: at("2190-01-01T00:00Z") });
    fc.assert(
      fc.property(fc.oneof(daily, calendar), start, ({ text }, ms) => {
        const fields = text.split(" ").map((field, index) => inCroner(FIELDS[index], field));
        const options = { mode: "7-part", alternativeWeekdays: true, paused: true, utcOffset: 0 } as const;
        const theirs = new Cron(`0 ${fields.join(" ")}`, options).nextRuns(5, new Date(ms));
        const ours: string[] = [];
        for (const one of occurrences({ cron: cronOf(text), timeZone: "UTC" }, epochMs(ms)))
          if (ours.push(toRfc3339(one)) === 5) break;
        expect(ours).toEqual(theirs.map((one) => one.toISOString()));
      }),
      { numRuns: 500 },
    );
  });
});

/** It asks for a range with every step, and has no L for SAT. */
function inCroner(field: Field | undefined, text: string): string {
  if (field === undefined || text === "*" || text === "?") return "*";
  if (text === "L") return field.name === "day of week" ? "7" : "L";
  return spelled(field, text) ?? text;
}
