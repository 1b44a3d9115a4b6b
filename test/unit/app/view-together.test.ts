import { describe, expect, test } from "vitest";
import type { LoadedQueue, QueueStore } from "../../../shared/queue/app/ports.ts";
import { viewTogether } from "../../../shared/queue/app/view-together.ts";
import { aKey } from "../table/fixture.ts";

type Pending = { readonly give: (version: number) => void; readonly fail: (what: string) => void };

/** A store whose readings end when the test says so, each with the version that it found. */
function aStore() {
  const pending: Pending[] = [];
  const read: string[] = [];
  const view = (key: ReturnType<typeof aKey>): Promise<LoadedQueue> => {
    read.push(key.branch);
    const { promise, resolve, reject } = Promise.withResolvers<LoadedQueue>();
    pending.push({
      give: (version) => resolve({ version } as LoadedQueue),
      fail: (what) => reject(new Error(what)),
    });
    return promise;
  };
  return { queues: { view } as unknown as QueueStore, pending, read };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));
const versionOf = async (view: Promise<LoadedQueue | undefined>) => (await view)?.version;

describe("many who look at a queue at the same time", () => {
  test("share a reading that began after they asked", async () => {
    const { queues, pending, read } = aStore();
    const first = viewTogether(queues, aKey());
    const later = [viewTogether(queues, aKey()), viewTogether(queues, aKey())];
    expect(read).toHaveLength(1);
    pending[0]?.give(1);
    await settled();
    expect(read).toHaveLength(2);
    const last = viewTogether(queues, aKey());
    pending[1]?.give(2);
    await settled();
    pending[2]?.give(3);
    expect(await Promise.all([first, ...later, last].map(versionOf))).toEqual([1, 2, 2, 3]);
    expect(read).toHaveLength(3);
    void viewTogether(queues, aKey());
    expect(read).toHaveLength(4);
  });

  test("of different queues, or stores, share nothing", async () => {
    const one = aStore();
    const other = aStore();
    for (const branch of ["a", "b"]) void viewTogether(one.queues, aKey({ branch }));
    void viewTogether(other.queues, aKey({ branch: "a" }));
    expect([one.read, other.read]).toEqual([["a", "b"], ["a"]]);
  });

  test("are not held up by a reading that failed before theirs", async () => {
    const { queues, pending } = aStore();
    const first = viewTogether(queues, aKey());
    const second = viewTogether(queues, aKey());
    pending[0]?.fail("away");
    await expect(first).rejects.toThrow("away");
    await settled();
    pending[1]?.give(2);
    expect(await versionOf(second)).toBe(2);
  });
});
