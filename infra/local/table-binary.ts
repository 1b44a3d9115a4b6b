import { accessSync, constants } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { CannotStart } from "./cannot-start.ts";

const PACKAGE = "@dynoxide/linux-x64";
const WHAT_TO_SET = "set DYNOXIDE_BIN to a dynoxide binary, or DYNAMODB_ENDPOINT to the address of a DynamoDB";

/** An optional dependency: it is installed only where its binary runs. */
function installed(): string {
  try {
    return join(dirname(createRequire(import.meta.url).resolve(`${PACKAGE}/package.json`)), "dynoxide");
  } catch {
    throw new CannotStart(`No embedded table for ${process.platform}-${process.arch}: ${WHAT_TO_SET}.`);
  }
}

export function tableBinary(env: NodeJS.ProcessEnv): string {
  const path = env["DYNOXIDE_BIN"] || installed();
  try {
    accessSync(path, constants.X_OK);
    return path;
  } catch {
    throw new CannotStart(`Cannot run the table's program ${path}: ${WHAT_TO_SET}.`);
  }
}
