/** The service's parts on AWS, of the environment that the stacks set. */
import { openTable } from "../shared/table/client.ts";
import { readEnvironment, SERVICE, type Variables } from "./environment.ts";
import { lambdaLog } from "./log.ts";
import type { Parts } from "./wiring.ts";

export type PartsOf = (variables: Variables) => Parts;

/** Large values are only for functions that say so: the client of their store makes a bundle larger by a quarter. */
const noBucket = async (): Promise<never> => {
  throw new Error("this function was made without the bucket: its file must hand withBucket on");
};

/** What most functions need. */
export const tableOnly: PartsOf = (variables) => {
  const environment = readEnvironment(SERVICE, variables);
  return {
    table: openTable({ name: environment.MAINLINE_TABLE, endpoint: environment.DYNAMODB_ENDPOINT }),
    log: lambdaLog(environment),
    blobs: { put: noBucket, get: noBucket },
    uploads: { grantUpload: noBucket, readUpload: noBucket, grantPut: noBucket, removeUpload: noBucket },
    // What talks to a code host hands withGitHub on; elsewhere nobody asks.
    hosts: () => undefined,
    hasPages: () => true,
  };
};
