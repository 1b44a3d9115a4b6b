/** What a deployment said of itself, kept by `npm run deploy` for the commands that come after it. */
import * as z from "zod";
import { CannotStart } from "../local/cannot-start.ts";
import { readJsonFile } from "../local/files.ts";

export const OUTPUTS = ".data/deployments";
/** By stack, then by name. */
const outputs = z.record(z.string(), z.record(z.string(), z.string()));

export function addressIn(file: string): string {
  const found = Object.values(readJsonFile(file, outputs) ?? {}).find((stack) => stack["Address"] !== undefined);
  const address = found?.["Address"];
  if (address === undefined) throw new CannotStart(`It is deployed, but ${file} names no address.`);
  return address;
}
