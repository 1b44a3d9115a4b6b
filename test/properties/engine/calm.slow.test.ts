import { describe } from "vitest";
import { propertiesOfCalm } from "./calm-properties.ts";

describe("where nothing goes wrong but tests", () => {
  propertiesOfCalm(150);
});
