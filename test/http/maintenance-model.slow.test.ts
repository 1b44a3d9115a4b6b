import { it } from "vitest";
import { itFollowsTheRule } from "./maintenance-model.ts";

it("whatever happens to windows, in whatever order, the state is the rule's, and the queue is due at the next edge", () =>
  itFollowsTheRule(25));
