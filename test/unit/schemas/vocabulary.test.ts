import { expect, it } from "vitest";
import * as engine from "../../../shared/queue/engine/types.ts";
import { PULL_REQUEST_STATES } from "../../../shared/schemas/pull-request.ts";
import { QUEUE_STATES } from "../../../shared/schemas/queue.ts";
import { MERGE_METHODS } from "../../../shared/schemas/queue-settings.ts";
import { STATUS_SOURCES } from "../../../shared/schemas/test-run.ts";

// The schemas may not import the engine, so this is what holds their words together.
it("the wire and the engine use the same words", () => {
  expect(PULL_REQUEST_STATES).toEqual(engine.ENTRY_STATES);
  expect(QUEUE_STATES).toEqual(engine.QUEUE_STATES);
  expect(MERGE_METHODS).toEqual(engine.MERGE_METHODS);
  expect(STATUS_SOURCES).toEqual(engine.STATUS_SOURCES);
});
