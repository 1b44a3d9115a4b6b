import { describe } from "vitest";
import { propertiesOfWorlds } from "./world-properties.ts";

describe("whatever a consistent host does", () => {
  propertiesOfWorlds(160);
});
