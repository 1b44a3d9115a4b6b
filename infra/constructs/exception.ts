import { Validations } from "aws-cdk-lib";
import type { IConstruct } from "constructs";

/** A rule that this one resource breaks, and why that is right. */
export function exception(resource: IConstruct, rule: string, reason: string): void {
  Validations.of(resource).acknowledge({ id: rule, reason });
}
