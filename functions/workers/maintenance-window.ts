/**
 * Called by the schedules of maintenance windows, and by anybody's rule or calendar that opens one. What it is called
 * with and cannot use is an error: it is tried again, and then among the dead letters.
 */
import type { Context } from "aws-lambda";
import { callMaintenance } from "../maintenance-call.ts";
import { maintenanceSide } from "../maintenance-side.ts";
import { work } from "../work.ts";

type Call = { readonly sent: unknown; readonly requestId: string | undefined };

const called = work(maintenanceSide, (app, { sent, requestId }: Call) => callMaintenance(app, sent, requestId));

export const handler = (sent: unknown, context?: Context): Promise<void> =>
  called({ sent, requestId: context?.awsRequestId }, context);
