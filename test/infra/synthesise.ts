/** Writes the templates of all stages to stdout, by stage and part. */
import { appOf } from "./app.ts";
import { stageNames } from "./stages.ts";

const partsOf = (stage: string): object => {
  const { stacks, assembly } = appOf(stage);
  const parts = Object.entries(stacks).map(([part, { stackName, terminationProtection }]) => {
    const template: unknown = assembly.getStackByName(stackName).template;
    return [part, { template, isProtected: terminationProtection }];
  });
  return Object.fromEntries(parts);
};

process.stdout.write(JSON.stringify(Object.fromEntries(stageNames.map((stage) => [stage, partsOf(stage)]))));
