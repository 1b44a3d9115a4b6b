import { afterEach, expect, test } from "vitest";
import { shownEntry } from "../../../shared/queue/app/shown.ts";
import { testing } from "../../support/queue.ts";
import { keepsPromises } from "../engine/promises.ts";

afterEach(keepsPromises);

test("what is shown of a wish is what the engine grants: an urgent PR that keeps a place stays urgent", () => {
  const queue = testing([1]);
  const [first] = [...queue.state.entries.values()];
  if (first === undefined) throw new Error("no entry");
  const urgent = { ...first, priority: { value: 0, byDefault: false } };
  const wish = { priority: { value: 200, byDefault: false } };
  expect(shownEntry({ ...urgent, asked: wish }).priority.value).toBe(0);
  expect(shownEntry({ ...urgent, place: null, asked: wish }).priority.value).toBe(200);
  expect(shownEntry({ ...first, asked: wish }).priority.value).toBe(200);
});
