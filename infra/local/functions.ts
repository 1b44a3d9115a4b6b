/** The same function files that are deployed, loaded from their folder. */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Context } from "aws-lambda";
import * as z from "zod";

type Folder = "api" | "workers";
type Module = { readonly handler?: unknown };

const urlOf = (folder: Folder, name: string): URL => new URL(`../../functions/${folder}/${name}.ts`, import.meta.url);

export const hasFunction = (folder: Folder, name: string): boolean => existsSync(fileURLToPath(urlOf(folder, name)));

/** Its `handler`. The answer is parsed as the service that calls it on AWS would read it. */
export async function loadFunction<Given>(folder: Folder, name: string, answer: z.ZodType<Given>) {
  const module: Module = await import(urlOf(folder, name).href);
  const { handler } = module;
  if (typeof handler !== "function") throw new Error(`functions/${folder}/${name}.ts exports no handler`);
  return async (event: unknown, context: Context): Promise<Given> => answer.parse(await handler(event, context));
}

export const apiAnswer = z.object({
  statusCode: z.int().min(100).max(599),
  headers: z.record(z.string(), z.string()).default({}),
  body: z.string().default(""),
});

export const authorizerAnswer = z.object({ isAuthorized: z.boolean(), context: z.record(z.string(), z.unknown()) });

/** A function of the stream that says nothing has done everything. */
export const batchAnswer = z
  .object({ batchItemFailures: z.array(z.object({ itemIdentifier: z.string() })).default([]) })
  .nullish()
  .transform((given) => given ?? { batchItemFailures: [] });
