import { describe, expect, test } from "vitest";
import { byteCache } from "../../../shared/table/byte-cache.ts";

const held = (cache: ReturnType<typeof byteCache<string>>, ...keys: readonly string[]) =>
  keys.filter((key) => cache.get(key) !== undefined);

describe("a cache of so many bytes", () => {
  test("forgets what was asked for least recently", () => {
    const cache = byteCache<string>(10);
    for (const key of ["a", "b", "c"]) cache.put(key, `value of ${key}`, 3);
    expect(cache.get("a")).toBe("value of a");
    cache.put("d", "value of d", 4);
    expect(held(cache, "a", "b", "c", "d")).toEqual(["a", "c", "d"]);
  });

  test("counts a value that is put again once", () => {
    const cache = byteCache<string>(10);
    for (let turn = 0; turn < 5; turn += 1) cache.put("a", "again", 6);
    cache.put("b", "other", 4);
    expect(held(cache, "a", "b")).toEqual(["a", "b"]);
  });

  test("keeps nothing that alone is too large, and loses nothing for it", () => {
    const cache = byteCache<string>(10);
    cache.put("a", "small", 10);
    cache.put("b", "large", 11);
    expect(held(cache, "a", "b")).toEqual(["a"]);
    cache.put("a", "grown", 11);
    expect(held(cache, "a")).toEqual([]);
    cache.put("c", "small", 10);
    expect(held(cache, "c")).toEqual(["c"]);
  });
});
