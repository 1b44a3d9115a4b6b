import { describe, expect, test } from "vitest";
import { createAnswers } from "../../../shared/code-host/github/known.ts";

const large = (megabytes: number) => ({ etag: "e", answer: { data: { patch: "x".repeat(megabytes * 1024 * 1024) } } });

describe("answers that are kept", () => {
  test("take no more room together than they may: the oldest goes first", () => {
    const answers = createAnswers<{ readonly data: unknown }>();
    for (const url of ["/1", "/2", "/3"]) answers.keep(url, large(10));
    answers.keep("/1", large(10));
    expect(["/1", "/2", "/3"].map((url) => answers.of(url) !== undefined)).toEqual([true, true, true]);
    answers.keep("/4", large(10));
    expect(["/1", "/2", "/3", "/4"].map((url) => answers.of(url) !== undefined)).toEqual([true, false, true, true]);
  });

  test("are none that is too large by itself, nor what it replaces", () => {
    const answers = createAnswers<{ readonly data: unknown }>();
    answers.keep("/1", large(1));
    answers.keep("/2", large(1));
    answers.keep("/1", large(33));
    expect([answers.of("/1"), answers.of("/2") !== undefined]).toEqual([undefined, true]);
  });
});
