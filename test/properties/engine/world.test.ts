import { describe } from "vitest";
import { propertiesOfWorlds } from "./world-properties.ts";

describe("whatever a consistent host does", () => {
  propertiesOfWorlds(Number(process.env["PROPERTY_RUNS"] ?? 40));
});
