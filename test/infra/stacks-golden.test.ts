/**
 * The templates of one stage as they were when somebody last looked at them: every change of what is deployed shows as
 * a change of these files. `GOLDEN=write npx vitest run test/infra/stacks-golden.test.ts` writes them anew.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ROOT } from "../architecture/source.ts";
import { type PartName, synthesise } from "./template.ts";

const FOLDER = join(ROOT, "test/golden/stacks");
const STAGE = "full";

/** Which code it is changes with every commit, and is not what these are about. */
const masked = (template: string): string => template.replaceAll(/\b[0-9a-f]{64}\b/gu, "<asset>");

describe(`the templates of stage ${STAGE}`, () => {
  const { parts } = synthesise(STAGE);

  test.each(["data", "workers", "api", "observability"] as const)("%s is what it was", (name: PartName) => {
    const path = join(FOLDER, `${name}.json`);
    const present = `${masked(parts[name].text)}\n`;
    if (process.env["GOLDEN"] === "write") {
      mkdirSync(FOLDER, { recursive: true });
      writeFileSync(path, present);
    }
    expect(JSON.parse(present)).toEqual(JSON.parse(readFileSync(path, "utf8")));
    expect(present).not.toMatch(/[0-9a-f]{64}/u);
  });
});
