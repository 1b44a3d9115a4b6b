import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { repositoryPathOf } from "../../../shared/test-health/app/codeowners-path.ts";

describe("the path of a test's file within its repository", () => {
  test.each([
    ["src/a.test.ts", "src/a.test.ts"],
    ["./spec/models/user_spec.rb", "spec/models/user_spec.rb"],
    ["tests\\Unit\\FooTest.php", "tests/Unit/FooTest.php"],
    [".\\a\\b.cs", "a/b.cs"],
    ["web//src/./a/../b.ts", "web/src/b.ts"],
    ["test_a.py", "test_a.py"],
    [" tests/test_a.py ", "tests/test_a.py"],
    ["spec/a_spec.rb:12", "spec/a_spec.rb"],
    ["src/lib.rs:10:5", "src/lib.rs"],
    ["Makefile.test", "Makefile.test"],
    [".github/x.ts", ".github/x.ts"],
    ["app/[id]/page.test.tsx", "app/[id]/page.test.tsx"],
    ["src/test/java/com/acme/FooTest.java", "src/test/java/com/acme/FooTest.java"],
    ["javatests/com/acme/FooTest.java", "javatests/com/acme/FooTest.java"],
    ["/home/runner/work/web/web/src/a.ts", "src/a.ts"],
    ["/Users/runner/work/web/web/src/a.ts:3:1", "src/a.ts"],
    ["/__w/web/web/src/a.ts", "src/a.ts"],
    ["/opt/actions-runner/_work/web/web/a.ts", "a.ts"],
    ["D:\\a\\web\\web\\src\\a.ts", "src/a.ts"],
    ["file:///home/runner/work/web/web/src/a.mjs", "src/a.mjs"],
    ["file:///D:/a/web/web/src/a.mjs", "src/a.mjs"],
    ["/github/workspace/src/a.ts", "src/a.ts"],
    ["D:\\a\\1\\s\\test\\a.cs", "test/a.cs"],
    ["/home/vsts/work/1/s/test/a.cs", "test/a.cs"],
    ["/home/circleci/project/src/a.ts", "src/a.ts"],
    ["/home/travis/build/acme/web/src/a.ts", "src/a.ts"],
    ["/opt/atlassian/pipelines/agent/build/src/a.ts", "src/a.ts"],
    ["/workspaces/web/src/a.ts", "src/a.ts"],
    ["/var/lib/buildkite-agent/builds/agent-1/acme/web/src/a.ts", "src/a.ts"],
    ["/var/lib/jenkins/workspace/web-main/src/a.ts", "src/a.ts"],
    ["/codebuild/output/src123/src/github.com/acme/web/src/a.ts", "src/a.ts"],
    ["/root/.cache/bazel/_bazel_root/ab/execroot/_main/pkg/a_test.py", "pkg/a_test.py"],
  ])("of %j is %j", (file, path) => {
    expect(repositoryPathOf(file)).toBe(path);
  });

  test.each([
    "",
    " ",
    ".",
    "./",
    "..",
    "../src/a.ts",
    "src/../../a.ts",
    "/home/me/projects/web/src/a.ts",
    "/home/runner/work/web/other/src/a.ts",
    "/home/runner/work/web/web/../../../etc/passwd",
    "/src/a.ts",
    "C:\\Users\\me\\web\\a.ts",
    "\\\\server\\share\\a.ts",
    "//server/a.ts",
    "~/web/a.ts",
    "com.acme.FooTest",
    "com.acme.FooTest$Inner",
    "FooTest",
    "com/acme/FooTest.class",
    "com/acme/FooTest.java",
    "org/acme/FooTest.kt",
    "FooTest.java",
    "bin/Debug/net8.0/Foo.dll",
    "webpack:///./src/a.ts",
    "http://localhost:3000/src/a.ts",
    "node:internal/test",
    "<anonymous>",
    "a\nb",
    "a\u0000b",
    "a".repeat(1_025),
  ])("of %j is not known", (file) => {
    expect(repositoryPathOf(file)).toBeNull();
  });

  test("never leaves the repository, and says the same of itself", () => {
    const parts = fc.array(
      fc.oneof(fc.constantFrom("..", ".", "", "a", "b.ts", "\\", "home", "runner", "work"), fc.string()),
    );
    fc.assert(
      fc.property(parts, (named) => {
        const path = repositoryPathOf(named.join("/"));
        if (path === null) return;
        expect(path.split("/").some((part) => part === "" || part === "." || part === "..")).toBe(false);
        expect(path).not.toContain("\\");
        if (!/\s$|:\d+$/u.test(path)) expect(repositoryPathOf(path) ?? path).toBe(path.trimStart());
      }),
      { numRuns: 1_000 },
    );
  });
});
