import { describe } from "vitest";
import { propertiesOfCalm } from "./calm-properties.ts";

describe("where nothing goes wrong but tests", () => {
  propertiesOfCalm(Number(process.env["PROPERTY_RUNS"] ?? 50));
});
