import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Failure, fingerprintOf, summaryOf } from "../../../shared/test-health/detect/fingerprint.ts";

const aFailure = (more: Partial<Failure> = {}): Failure => ({ type: null, message: null, text: null, ...more });
const ofText = (text: string): string => summaryOf(aFailure({ text }));

describe("the summary of a failure", () => {
  test.each([
    ["the first line of its text", { type: "T", message: "M", text: "first\nsecond" }, "first"],
    ["the first line that is not empty", { text: "\n \t\r\n\n  first  \r\nsecond" }, "first"],
    [
      "lines without anything but colours left out",
      { text: "\u001b[31m\n\u001b[0m\n[22m\n\u001b[1mfirst\u001b[0m" },
      "first",
    ],
    ["its message, where there is no text", { type: "T", message: "M\nmore", text: null }, "M"],
    ["its message, where the text is blank", { type: "T", message: "M", text: " \n\n" }, "M"],
    ["its type, where there is nothing else", { type: "java.lang.Error", message: "" }, "java.lang.Error"],
    ["nothing, where there is nothing", {}, ""],
  ])("is %s", (_, failure, summary) => {
    expect(summaryOf(aFailure(failure))).toBe(summary);
  });

  test.each([
    ["colours", "\u001b[1;31mexpected\u001b[0m [2mred[22m \u001b]8;;http://a\u0007link", "expected red link"],
    [
      "colours whose escape was lost",
      "\ufffd[31mbad\ufffd[39m \\x1b[1mworse\\u001b[0m #x1B[31mworst",
      "bad worse worst",
    ],
    ["UUIDs", "user 3F2504E0-4f89-41d3-9a0c-0305e82c3301 is gone", "user <uuid> is gone"],
    ["ISO times", "at 2024-03-01T10:20:30.123Z: no", "at <time>: no"],
    ["ISO times with a zone", "from 2024-03-01 10:20:30,123+02:00 on", "from <time> on"],
    ["ISO times without seconds", "<2024-03-01T10:20>", "<<time>>"],
    ["basic ISO times", "20240301T102030Z", "<time>"],
    ["dates", "due 2024-03-01", "due <time>"],
    ["clock times", "10:20:30 ERROR and 9:05:01 PM", "<time1> ERROR and <time2>"],
    ["IPv4 addresses", "no route to 10.0.12.7", "no route to <ip>"],
    ["IPv4 addresses with their port", "dial tcp 127.0.0.1:49153: refused", "dial tcp <ip>:<port>: refused"],
    ["local ports", "localhost:3000, [::1]:80 and :::8080", "localhost:<port1>, [::1]:<port2> and :::<port3>"],
    ["hex addresses", "<Foo object at 0x7f3c5c0d9e50>", "<Foo object at <address>>"],
    ["absolute paths", "open /tmp/build-17/work/data.json: gone", "open data.json: gone"],
    ["absolute paths in quotes", "cannot find '/home/runner/work/a/b.ts'", "cannot find 'b.ts'"],
    ["paths of Windows", "C:\\Users\\ci\\a.cs and D:/a/b/c.cs, \\\\server\\share\\d.cs", "a.cs and c.cs, d.cs"],
    ["file addresses", "in file:///home/me/a.mjs:3:14", "in a.mjs:<line>"],
    [
      "lines and columns",
      "(src/a.test.ts:10:5) a_test.go:42: FooTest.java:7",
      "(src/a.test.ts:<line1>) a_test.go:<line2>: FooTest.java:<line3>",
    ],
    [
      "hashes",
      "at 1a2b3c4 and e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
      "at <hash1> and <hash2>",
    ],
    [
      "durations",
      "after 5000ms, 30 seconds, 1m30.5s, 0.25s, 15µs",
      "after <duration1>, <duration2>, <duration3>, <duration4>, <duration5>",
    ],
    ["sizes", "12MB of 1,024 bytes, 3.5 GiB, 100B", "<size1> of <size2>, <size3>, <size4>"],
    ["shares", "97.5% of 100 %", "<percent1> of <percent2>"],
    ["floats", "expected 0.30000000000000004 to be -0.3 or 1e-7", "expected <float1> to be -<float2> or <float3>"],
    ["integers of four digits and more", "row 123456 of user_10023", "row <n1> of user_<n2>"],
  ])("replaces %s", (_, line, summary) => {
    expect(ofText(line)).toBe(summary);
  });

  test.each([
    "HTTP 500 is not HTTP 404",
    "expected 3 to be 4",
    "version 1.2.3 needs v10.4.11",
    "https://example.com/a/b is down",
    "and/or, 1/2, a / b",
    "src/app/a.ts is relative",
    "defaced facade added beefcafe",
    "UTF-8, sha256, base64, h264",
    'NullPointerException: Cannot invoke "Foo.bar()"',
    "日本語のエラー: 値が違います",
    "it's 5 o'clock: 3 m or 5 s are numbers and letters",
  ])("leaves %j as it is", (line) => {
    expect(ofText(line)).toBe(line);
  });

  test("numbers placeholders that are repeated, each kind for itself, and no other", () => {
    expect(ofText("1000 2000 10.0.0.1 3000")).toBe("<n1> <n2> <ip> <n3>");
    expect(ofText("1000 is not 1000")).toBe("<n1> is not <n2>");
  });

  test.each([
    [
      "pytest",
      "E   AssertionError: assert 1718031 == 1718032\nE    +  where 1718031 = f()",
      "E   AssertionError: assert 99182 == 99183\n",
      "E   AssertionError: assert <n1> == <n2>",
    ],
    [
      "pytest's fixture",
      "self = <tests.test_db.TestDb object at 0x7f1b2c3d4e50>",
      "self = <tests.test_db.TestDb object at 0x10a2b3c4d>",
      "self = <tests.test_db.TestDb object at <address>>",
    ],
    [
      "jest",
      "Error: \u001b[2mexpect(\u001b[22m\u001b[31mreceived\u001b[39m\u001b[2m).\u001b[22mtoBe\u001b[2m(\u001b[22m\u001b[32mexpected\u001b[39m\u001b[2m) // Object.is equality\u001b[22m\n\nExpected: 1",
      "Error: [2mexpect([22m[31mreceived[39m[2m).[22mtoBe[2m([22m[32mexpected[39m[2m) // Object.is equality[22m",
      "Error: expect(received).toBe(expected) // Object.is equality",
    ],
    [
      "jest's timeout",
      'Error: thrown: "Exceeded timeout of 5000 ms for a test.',
      'Error: thrown: "Exceeded timeout of 30000 ms for a test.',
      'Error: thrown: "Exceeded timeout of <duration> for a test.',
    ],
    [
      "go",
      '    server_test.go:118: Get "http://127.0.0.1:41877/": context deadline exceeded',
      '    server_test.go:121: Get "http://127.0.0.1:38211/": context deadline exceeded',
      'server_test.go:<line>: Get "http://<ip>:<port>/": context deadline exceeded',
    ],
    [
      "go's panic",
      "panic: runtime error: invalid memory address [signal SIGSEGV: code=0x1 addr=0x0 pc=0x6d2f14]",
      "panic: runtime error: invalid memory address [signal SIGSEGV: code=0x1 addr=0x0 pc=0x6e0011]",
      "panic: runtime error: invalid memory address [signal SIGSEGV: code=<address1> addr=<address2> pc=<address3>]",
    ],
    [
      "java",
      "java.net.ConnectException: Connection refused: localhost/127.0.0.1:34567\n\tat java.base/sun.nio.ch.Net.pollConnect(Native Method)",
      "java.net.ConnectException: Connection refused: localhost/127.0.0.1:41234\n\tat java.base/sun.nio.ch.Net.pollConnect(Native Method)",
      "java.net.ConnectException: Connection refused: localhost/<ip>:<port>",
    ],
    [
      "java's objects",
      "org.opentest4j.AssertionFailedError: expected: com.acme.Foo@1b28cdfa<Foo> but was: com.acme.Foo@5e9f23b4<Foo>",
      "org.opentest4j.AssertionFailedError: expected: com.acme.Foo@6d06d69c<Foo> but was: com.acme.Foo@7852e922<Foo>",
      "org.opentest4j.AssertionFailedError: expected: com.acme.Foo@<hash1><Foo> but was: com.acme.Foo@<hash2><Foo>",
    ],
    [
      "rust",
      "thread 'tests::it_works' panicked at src/lib.rs:42:9:\nassertion `left == right` failed",
      "thread 'tests::it_works' panicked at src/lib.rs:57:13:\nassertion `left == right` failed",
      "thread 'tests::it_works' panicked at src/lib.rs:<line>:",
    ],
    [
      "playwright",
      "  a.spec.ts:12:5 › logs in ──────\n\n    Error: Timed out 5000ms waiting for expect",
      "  a.spec.ts:14:5 › logs in ──────\n",
      "a.spec.ts:<line> › logs in ──────",
    ],
    [
      "rspec",
      "Failure/Error: expect(Time.now).to eq(2024-05-01 10:00:00.000000000 +0000)",
      "Failure/Error: expect(Time.now).to eq(2023-05-01 11:22:33.123456789 +0200)",
      "Failure/Error: expect(Time.now).to eq(<time>)",
    ],
    [
      ".NET",
      "System.IO.FileNotFoundException : Could not find file 'D:\\a\\1\\s\\test\\bin\\data.json'.",
      "System.IO.FileNotFoundException : Could not find file '/home/vsts/work/1/s/test/bin/data.json'.",
      "System.IO.FileNotFoundException : Could not find file 'data.json'.",
    ],
    [
      "node",
      "Error: listen EADDRINUSE: address already in use :::3000",
      "Error: listen EADDRINUSE: address already in use :::49200",
      "Error: listen EADDRINUSE: address already in use :::<port>",
    ],
  ])("is the same for two failures of one cause in %s", (_, one, another, summary) => {
    expect([ofText(one), ofText(another)]).toEqual([summary, summary]);
  });

  test("does not depend on what varies", () => {
    const varying = fc.oneof(
      fc.uuid(),
      fc.ipV4(),
      fc.integer({ min: 1000 }).map(String),
      fc.double({ min: 0.01, max: 1e6, noInteger: true }).map((value) => value.toFixed(3)),
      fc.date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true }).map((date) => date.toISOString()),
      fc.integer({ min: 1, max: 100_000 }).map((ms) => `${ms}ms`),
      fc.integer({ min: 4096 }).map((at) => `0x${at.toString(16)}`),
      fc.stringMatching(/^(?:\/[a-z]{1,9}){1,5}\/same\.txt$/u),
    );
    const kindOf = (value: string): string => ofText(value);
    fc.assert(
      fc.property(
        varying,
        varying,
        fc.constantFrom("Error: got {} there", "({})", "want {}, have no such"),
        (a, b, frame) => {
          fc.pre(kindOf(a) === kindOf(b));
          expect(ofText(frame.replace("{}", a))).toBe(ofText(frame.replace("{}", b)));
          expect(ofText(frame.replace("{}", a))).not.toContain(a);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  test("of a summary is that summary, for every example above", () => {
    for (const line of [
      "after <duration1>, <duration2>",
      "<n1> is not <n2>",
      "a.mjs:<line>",
      "open data.json: <ip>:<port>",
    ]) {
      expect(ofText(line)).toBe(line);
    }
  });

  test("is a line of at most 500 well-formed characters, whatever the failure holds", () => {
    const anything = fc.option(
      fc
        .array(
          fc.oneof(
            fc.array(fc.nat(0xffff)).map((units) => String.fromCharCode(...units)),
            fc.constant("\ud83d"),
            fc.constant("1000 ".repeat(150)),
          ),
        )
        .map((bits) => bits.join("")),
    );
    fc.assert(
      fc.property(anything, anything, anything, (type, message, text) => {
        const summary = summaryOf({ type, message, text });
        expect(summary.length).toBeLessThanOrEqual(500);
        expect(summary.isWellFormed()).toBe(true);
        expect(summary).not.toMatch(/[\n\r]/u);
        expect(summaryOf({ type, message, text })).toBe(summary);
      }),
      { numRuns: 300 },
    );
    expect(ofText(`${"a".repeat(499)}😀`).isWellFormed()).toBe(true);
    expect(ofText("\ud800 alone")).toBe("\ufffd alone");
  });

  test("costs no more for 64 KB that are made to cost more than for the same in parts", () => {
    const bits = [
      "1",
      "a1",
      "1.",
      "1:",
      "1,111",
      "/a",
      "\\",
      "0x",
      ":",
      "::",
      "1-",
      "1.1.1.1:",
      " ",
      "\u001b[",
      "\u001b]",
      "[1;",
      "1m",
      "ab12",
      "<n>",
      "-",
      "f",
      "e",
      "1e",
      "C:/",
      "file://",
      "localhost:",
      "10:20:",
      "2024-01-01T",
      "\n",
      " \n",
      "é",
      "😀",
    ];
    const hostile = [...bits, ...bits.flatMap((one) => bits.slice(0, 12).map((other) => one + other))];
    const costOf = (text: string, times: number): number => {
      const began = process.cpuUsage();
      for (let time = 0; time < times; time += 1) ofText(text);
      return process.cpuUsage(began).user;
    };
    const PARTS = 8;
    const ratioOf = (bytes: number, times: number): number => {
      let [whole, inParts] = [0, 0];
      // In turn, so that a machine with other things to do has them in both sums.
      for (const bit of hostile) {
        whole += costOf(bit.repeat(Math.ceil(bytes / bit.length)), times);
        inParts += costOf(bit.repeat(Math.ceil(bytes / PARTS / bit.length)), times * PARTS);
      }
      return whole / inParts;
    };
    // What goes back over what it has read costs many times as much: in the whole text, or in one line as it is cut.
    expect(ratioOf(65_536, 1)).toBeLessThan(4);
    expect(ratioOf(2_000, 4)).toBeLessThan(4);
  });
});

describe("a fingerprint", () => {
  test("tells apart what differs in type or summary, and nothing else", () => {
    const base = fingerprintOf({ type: "E", summary: "s" });
    expect(fingerprintOf({ type: " E \nmore", summary: "s" })).toBe(base);
    const others = [
      { type: "F", summary: "s" },
      { type: "E", summary: "t" },
      { type: null, summary: "s" },
      { type: 'E","s', summary: "" },
    ];
    expect(new Set([base, ...others.map(fingerprintOf)]).size).toBe(5);
  });
});
