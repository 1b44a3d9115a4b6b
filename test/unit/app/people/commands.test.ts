import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isCommand, readCommand } from "../../../../shared/queue/app/people/commands.ts";

describe("a command", () => {
  test.each([
    ["/merge", { kind: "MERGE" }],
    ["/Merge  --PRIORITY=Urgent\t--no-batch ", { kind: "MERGE", priority: 0, noBatch: true }],
    ["/merge --priority=high", { kind: "MERGE", priority: 10 }],
    ["/merge --priority=medium", { kind: "MERGE", priority: 100 }],
    ["/merge --priority=low", { kind: "MERGE", priority: 200 }],
    ["/merge --priority=255", { kind: "MERGE", priority: 255 }],
    ["/merge --priority=007", { kind: "MERGE", priority: 7 }],
    ["/merge --head=0123ABC", { kind: "MERGE", head: "0123abc" }],
    ["/cancel\r\nit breaks /merge", { kind: "CANCEL" }],
    ["/restart\nplease", { kind: "RESTART" }],
    ["   /why", { kind: "WHY" }],
    ["/why\u2028/merge", { kind: "WHY" }],
  ] as const)("%j is read from the first line", (text, command) => {
    expect(readCommand(text)).toEqual({ ok: true, command });
    expect(isCommand(text)).toBe(true);
  });

  test.each([
    "",
    "/",
    "/ merge",
    "/merged",
    "/merge-now",
    "/merge\u00A0--priority=high",
    "\uFEFF/merge",
    "／merge",
    "/mеrge",
    "please /merge",
    "> /merge",
    "`/merge`",
    "```\n/merge\n```",
    "    /merge",
    "\t/merge",
    "\n/merge",
    "\r\n/merge",
    "<!-- -->/merge",
    "/toString",
    "/constructor",
    "/reſtart",
  ])("%j is none", (text) => {
    expect(readCommand(text)).toBeUndefined();
    expect(isCommand(text)).toBe(false);
  });

  test.each([
    ["/merge --priority=256", ["--priority=256"]],
    [
      "/merge --priority=-1 --priority= --priority=urgent=high",
      ["--priority=-1", "--priority=", "--priority=urgent=high"],
    ],
    ["/merge --priority", ["--priority"]],
    ["/merge --no-batch=false --now", ["--no-batch=false", "--now"]],
    ["/merge —no-batch", ["?no-batch"]],
    ["/cancel --no-batch", ["--no-batch"]],
    ["/why not?", ["not?"]],
    ["/restart 1 2 3 4 5 6 7", ["1, 2, 3, 4, 5 and 2 more"]],
    ["/merge --priority=high --priority=low", ["twice"]],
  ] as const)("%j is refused with all that is wrong with it", (text, named) => {
    const read = readCommand(text);
    expect(read).toMatchObject({ ok: false });
    for (const one of named) expect(read?.ok === false && read.what).toContain(one);
  });

  test("is told in one short line of plain letters, whatever was written", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.constantFrom("merge", "cancel", "why"), (text, word) => {
        const read = readCommand(`/${word} ${text}`);
        if (read === undefined || read.ok) return;
        expect(read.what).toMatch(/^[\x20-\x7e…]{1,300}$/u);
      }),
    );
  });

  // What looks at the text more than a few times would not end.
  test("is found in a megabyte at once", () => {
    for (const filler of ["x", " ", "\n", "--priority=", "\u{1F600}"]) {
      expect(readCommand(`/merge ${filler.repeat(1_000_000)}`)).toBeDefined();
      expect(readCommand(filler.repeat(1_000_000))).toBeUndefined();
    }
  });
});
