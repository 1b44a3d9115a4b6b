import type { Code } from "aws-cdk-lib/aws-lambda";
import type { Settings } from "../config.ts";

/** The bundle of a file of `functions/`. */
export type CodeOf = (folder: "api" | "workers", name: string) => Code;

/** What everything of one deployment is made with. */
export type Deployment = { readonly settings: Settings; readonly codeOf: CodeOf };

/** What outlives every function. */
export type Data = {
  readonly table: { readonly name: string; readonly arn: string; readonly streamArn: string };
  readonly bucket: { readonly name: string; readonly arn: string };
  /** The secret of the GitHub App. */
  readonly gitHubApp: { readonly arn: string };
};

/** Stands before the names of everything that is deployed, so that stages live side by side. */
export const nameOf = ({ settings }: Pick<Deployment, "settings">, ...parts: readonly string[]): string =>
  ["mainline", settings.stage, ...parts].join("-");
