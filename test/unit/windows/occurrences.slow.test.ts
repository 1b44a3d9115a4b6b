import { describe, it } from "vitest";
import { fitsTheCalendar } from "./calendar.ts";

describe("any expression", () => {
  it("fits the days that the calendar says, over seven years", () => {
    fitsTheCalendar(400);
  });
});
