/** Lines of JSON for CloudWatch: each names stage, function and invocation. */
import { Logger } from "@aws-lambda-powertools/logger";
import type { Context } from "aws-lambda";
import type * as z from "zod";
import type { Log } from "../shared/kernel/log.ts";
import type { SERVICE } from "./environment.ts";

/**
 * Texts that open something: our tokens, GitHub's, a signed address, a session of AWS. Fields must not hold any, but
 * an error of somebody else's may quote what it was given.
 */
const SECRETS =
  /\bmlq_[0-9A-Za-z]+|\b(?:gh[a-z]|github_pat)_\w+|(?<=X-Amz-(?:Signature|Security-Token|Credential)=)[^&\s"']+|-----BEGIN [\s\S]+/gu;

export const withoutSecrets = (_name: string, value: unknown): unknown => {
  const shown = value instanceof Error ? (value.stack ?? value.message) : value;
  return typeof shown === "string" ? shown.replaceAll(SECRETS, "[secret]") : shown;
};

const logger = new Logger({ serviceName: "mainline", jsonReplacerFn: withoutSecrets });

/** Called first in every invocation. */
export const nameInvocation = (context: Context | undefined): void => {
  if (context !== undefined) logger.addContext(context);
};

type Settings = Pick<z.output<typeof SERVICE>, "MAINLINE_STAGE" | "MAINLINE_LOG_LEVEL">;

export function lambdaLog({ MAINLINE_STAGE, MAINLINE_LOG_LEVEL }: Settings): Log {
  logger.setLogLevel(MAINLINE_LOG_LEVEL);
  logger.appendPersistentKeys({ stage: MAINLINE_STAGE });
  return {
    info: (message, fields = {}) => logger.info(message, { ...fields }),
    warn: (message, fields = {}) => logger.warn(message, { ...fields }),
    error: (message, fields = {}) => logger.error(message, { ...fields }),
  };
}
