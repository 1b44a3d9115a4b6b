/** The four stacks of one deployment, in the order in which they need each other. */
import { type App, type Environment, Tags } from "aws-cdk-lib";
import { type Deployment, nameOf } from "../constructs/deployment.ts";
import { ApiStack } from "./api.ts";
import { DataStack } from "./data.ts";
import { ObservabilityStack } from "./observability.ts";
import { WorkersStack } from "./workers.ts";

export function service(app: App, deployment: Deployment, env: Environment = {}) {
  const { stage, keepsData } = deployment.settings;
  const of = (part: string, description: string) => ({
    env,
    stackName: nameOf(deployment, part),
    description: `Mainline, stage ${stage}: ${description}`,
    terminationProtection: keepsData && part === "data",
  });
  const data = new DataStack(app, nameOf(deployment, "data"), deployment, of("data", "the table and the bucket"));
  const workers = new WorkersStack(
    app,
    nameOf(deployment, "workers"),
    deployment,
    data,
    of("workers", "what works without being asked"),
  );
  const api = new ApiStack(app, nameOf(deployment, "api"), deployment, data, of("api", "the API and its functions"));
  const observability = new ObservabilityStack(
    app,
    nameOf(deployment, "observability"),
    deployment,
    { data, workers, api },
    of("observability", "alarms and the dashboard"),
  );
  const stacks = { data, workers, api, observability };
  for (const stack of Object.values(stacks)) Tags.of(stack).add("mainline:stage", stage);
  return stacks;
}
