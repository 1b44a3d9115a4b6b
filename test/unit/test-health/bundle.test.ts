import { gzipSync, zstdCompressSync } from "node:zlib";
import * as fc from "fast-check";
import { packTar, type TarEntry, type TarHeader } from "modern-tar";
import { describe, expect, test } from "vitest";
import { BUNDLE_LIMITS, type Bundle, type BundleLimits, readBundle } from "../../../shared/test-health/app/bundle.ts";

const META = {
  version: "1",
  cli_version: "cargo=0.11.2 git=abc rustc=1.83.0",
  org: "acme",
  repo: {
    repo: { host: "github.com", owner: "acme", name: "web" },
    repo_root: "/home/runner/work/web/web",
    repo_url: "https://github.com/acme/web",
    repo_head_sha: "8f1d2a3b4c5d6e7f8091a2b3c4d5e6f708192a3b",
    repo_head_sha_short: "8f1d2a3",
    repo_head_branch: "main",
    repo_head_commit_epoch: 1_720_000_000,
    repo_head_commit_message: "m",
    repo_head_author_name: "a",
    repo_head_author_email: "a@example.com",
  },
  bundle_upload_id: "59c3a1f0",
  tags: [],
  file_sets: [
    {
      file_set_type: "Junit",
      files: [
        {
          original_path: "/home/runner/work/web/web/out/unit.xml",
          original_path_rel: "out/unit.xml",
          path: "junit/0",
          owners: ["@acme/web"],
          team: null,
        },
        { original_path: "/home/runner/work/web/web/out/e2e.xml", path: "junit/1", owners: [] },
      ],
      glob: "out/*.xml",
      resolved_status: null,
    },
  ],
  envs: { GITHUB_RUN_ID: "1", CI: "true" },
  upload_time_epoch: 1_720_000_123,
  test_command: null,
  quarantined_tests: [],
  codeowners: { path: "/home/runner/work/web/web/CODEOWNERS" },
  variant: "linux",
};

const UNIT = "<testsuites><testcase name='a'/></testsuites>";
const aFile = (name: string, body: string | Uint8Array, more: Partial<TarHeader> = {}): TarEntry => {
  const bytes = Buffer.from(body);
  return { header: { name, size: bytes.length, ...more }, body: bytes };
};
const aMeta = (meta: unknown = META): TarEntry =>
  aFile("meta.json", typeof meta === "string" ? meta : JSON.stringify(meta));
const ENTRIES: readonly TarEntry[] = [
  aMeta(),
  aFile("junit/0", UNIT),
  aFile("junit/1", "<b/>"),
  aFile("CODEOWNERS", "* @a\n"),
];

const aTar = async (entries: readonly TarEntry[] = ENTRIES): Promise<Buffer> => Buffer.from(await packTar(entries));

async function* inChunks(bytes: Uint8Array, size = 64 * 1024): AsyncGenerator<Uint8Array, void, undefined> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const limited = (more: Partial<BundleLimits>): BundleLimits => ({ ...BUNDLE_LIMITS, ...more });
const read = async (bytes: Uint8Array, limits = BUNDLE_LIMITS): Promise<Bundle> => readBundle(inChunks(bytes), limits);
const readAll = async (entries: readonly TarEntry[], limits = BUNDLE_LIMITS): Promise<Bundle> =>
  read(zstdCompressSync(await aTar(entries)), limits);

/** The reports by path, and what was left out. */
function told(bundle: Bundle): { readonly files: readonly string[]; readonly issues: readonly string[] } {
  if (bundle.kind === "REFUSED") throw new Error(`refused: ${bundle.why}`);
  return {
    files: bundle.files.map(({ path }) => path),
    issues: bundle.issues.map(({ path, message }) => `${path}: ${message}`),
  };
}

const whyOf = (bundle: Bundle): string | null => (bundle.kind === "REFUSED" ? bundle.why : null);

const SIZE_AT = 124;

/** The first header with other bytes in it, and a checksum that fits. */
function patched(tar: Uint8Array, at: number, bytes: Uint8Array | readonly number[]): Buffer {
  const copy = Buffer.from(tar);
  copy.set(bytes, at);
  copy.write("        ", 148);
  const sum = copy.subarray(0, 512).reduce((total, byte) => total + byte, 0);
  copy.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return copy;
}

describe("a bundle", () => {
  test.each([
    ["with zstd", (tar: Buffer) => zstdCompressSync(tar)],
    ["with gzip", (tar: Buffer) => gzipSync(tar)],
    ["not at all", (tar: Buffer) => tar],
  ])("compressed %s is read whole, in chunks of any size", async (_, compress) => {
    const bytes = compress(await aTar());
    const whole = await read(bytes);
    expect(whole).toEqual({
      kind: "READ",
      meta: {
        org: "acme",
        repo: {
          repo: { host: "github.com", owner: "acme", name: "web" },
          repo_head_sha: META.repo.repo_head_sha,
          repo_head_branch: "main",
        },
        file_sets: [
          {
            file_set_type: "Junit",
            files: [
              { original_path: "/home/runner/work/web/web/out/unit.xml", path: "junit/0", owners: ["@acme/web"] },
              { original_path: "/home/runner/work/web/web/out/e2e.xml", path: "junit/1", owners: [] },
            ],
          },
        ],
        envs: META.envs,
        variant: "linux",
        upload_time_epoch: 1_720_000_123,
        codeowners: META.codeowners,
      },
      files: [
        { path: "junit/0", bytes: new Uint8Array(Buffer.from(UNIT)) },
        { path: "junit/1", bytes: new Uint8Array(Buffer.from("<b/>")) },
      ],
      codeowners: "* @a\n",
      issues: [],
    });
    for (const size of [1, 3, 511, 513]) expect(await readBundle(inChunks(bytes, size))).toEqual(whole);
  });

  test("may hold its parts in any order, with `./` in front, among directories", async () => {
    const entries = [
      { header: { name: "junit/", size: 0, type: "directory" as const } },
      aFile("./junit/1", "<b/>"),
      aFile("./CODEOWNERS", "x"),
      aFile("junit/0", UNIT),
      aMeta(),
    ];
    expect(told(await readAll(entries))).toEqual({ files: ["junit/1", "junit/0"], issues: [] });
  });

  test("without CODEOWNERS, or without a list, is read", async () => {
    const bundle = await readAll([
      aMeta({ ...META, file_sets: [], codeowners: null }),
      aFile("junit/0", "a"),
      aFile("b.XML", "b"),
      aFile("c", ""),
    ]);
    expect(told(bundle)).toEqual({ files: ["junit/0", "b.XML"], issues: ["c: meta.json does not list it."] });
    expect(bundle).toMatchObject({ codeowners: null, meta: { codeowners: null } });
  });

  test("leaves formats of the client's own alone without a word", async () => {
    const sets = [
      ...META.file_sets,
      { file_set_type: "Internal", files: [{ path: "internal/0", original_path: "a.bin" }] },
    ];
    const entries = [
      aMeta({ ...META, file_sets: sets }),
      ...ENTRIES.slice(1),
      aFile("internal/0", "a"),
      aFile("bazel_bep.json", "{}"),
    ];
    expect(told(await readAll(entries))).toEqual({ files: ["junit/0", "junit/1"], issues: [] });
    expect(told(await readAll([...entries.slice(1), aMeta({ ...META, file_sets: sets })]))).toEqual({
      files: ["junit/0", "junit/1"],
      issues: [],
    });
  });

  test("with long names in extended headers is read", async () => {
    const path = `${"junit-".repeat(40)}ö.xml`;
    const meta = { ...META, file_sets: [{ files: [{ path }] }] };
    expect(told(await readAll([aMeta(meta), aFile(path, "x", { pax: { comment: "ä=1\n", mtime: "1.5" } })]))).toEqual({
      files: [path],
      issues: [],
    });
  });

  test.each([
    ["not listed", [aFile("junit/7", "x")], ["junit/7: meta.json does not list it."]],
    [
      "named outside",
      [aFile("../junit/0", "x"), aFile("a/../../x", "x")],
      ["../junit/0: It names a place outside of the bundle.", "a/../../x: It names a place outside of the bundle."],
    ],
    [
      "absolute",
      [aFile("/etc/passwd", "x"), aFile("C:\\x.xml", "x")],
      ["/etc/passwd: It names a place outside of the bundle.", "C:\\x.xml: It names a place outside of the bundle."],
    ],
    [
      "there twice",
      [aFile("junit/0", "other"), aMeta({}), aFile("CODEOWNERS", "x")],
      ["junit/0", "meta.json", "CODEOWNERS"].map((path) => `${path}: It is there twice; the first was read.`),
    ],
    [
      "no file",
      (["symlink", "link", "character-device", "block-device", "fifo"] as const).map((type) => ({
        header: { name: "junit/0", size: 0, type, linkname: "/etc/passwd" },
      })),
      ["symlink", "link", "character-device", "block-device", "fifo"].map(
        (type) => `junit/0: It is a ${type}, and only files are read.`,
      ),
    ],
  ])("leaves out what is %s, and says so", async (_, added: readonly TarEntry[], issues) => {
    expect(told(await readAll([...ENTRIES, ...added]))).toEqual({ files: ["junit/0", "junit/1"], issues });
    const bundle = await readAll([...ENTRIES, ...added]);
    expect(bundle).toMatchObject({ codeowners: "* @a\n", files: [{ bytes: new Uint8Array(Buffer.from(UNIT)) }, {}] });
  });

  test("says what it lists and does not hold", async () => {
    const link = { header: { name: "junit/0", size: 0, type: "symlink" as const, linkname: "junit/1" } };
    expect(told(await readAll([aMeta(), link])).issues).toEqual([
      "junit/0: It is a symlink, and only files are read.",
      "junit/1: meta.json lists it, and it is not there.",
    ]);
  });

  test("may be odd a hundred times", async () => {
    const entries = Array.from({ length: 150 }, (_, at) => aFile(`../${at}`, ""));
    expect(told(await readAll([aMeta(), ...entries])).issues).toHaveLength(100);
  });
});

describe("meta.json", () => {
  const least = { org: META.org, repo: META.repo, file_sets: META.file_sets };
  test.each([
    ["with the least there is", least],
    ["with nulls", { ...META, envs: null, variant: null, upload_time_epoch: null, codeowners: null }],
    ["with a mark at its beginning", `\ufeff${JSON.stringify(META)}`],
    ["with keys of all kinds", JSON.stringify({ ...META, envs: { a: "b" } }).replace('"a"', '"__proto__"')],
    ["without a commit", { ...META, repo: { repo: META.repo.repo } }],
    ["without owners", { ...META, file_sets: [{ files: [{ path: "junit/0", owners: null }] }, {}] }],
  ])("%s is read", async (_, meta) => {
    expect(whyOf(await readAll([aMeta(meta), aFile("junit/0", "")]))).toBeNull();
  });

  test.each([
    ["", "meta.json is no JSON."],
    ["{", "meta.json is no JSON."],
    ["[".repeat(500_000), "meta.json is no JSON."],
    [`${"[".repeat(200_000)}${"]".repeat(200_000)}`, "meta.json cannot be used: all of it:"],
    ["null", "meta.json cannot be used: all of it:"],
    [{}, "meta.json cannot be used: org:"],
    [{ ...META, org: "" }, "meta.json cannot be used: org:"],
    [{ ...META, repo: { ...META.repo, repo: { host: "h" } } }, "meta.json cannot be used: repo.repo.owner:"],
    [{ ...META, file_sets: [{ files: [{ path: 1 }] }] }, "meta.json cannot be used: file_sets.0.files.0.path:"],
    [{ ...META, upload_time_epoch: "now" }, "meta.json cannot be used: upload_time_epoch:"],
    [{ ...META, envs: { a: 1 } }, "meta.json cannot be used: envs.a:"],
  ])("%.30j is refused", async (meta, why) => {
    expect(whyOf(await readAll([aMeta(meta)]))).toContain(why);
  });

  test("that is wrong everywhere is not answered at length", async () => {
    const why = whyOf(await readAll([aMeta({ ...META, file_sets: Array.from({ length: 50 }, () => 1) })]));
    expect(why?.split(";")).toHaveLength(3);
    expect(why?.length).toBeLessThan(600);
  });

  test("of whatever content is read or refused", async () => {
    await fc.assert(
      fc.asyncProperty(fc.json(), fc.string(), fc.constantFrom(...Object.keys(META)), async (json, text, key) => {
        const value: unknown = JSON.parse(json);
        await readAll([aMeta({ ...META, [key]: value })]);
        expect((await readAll([aMeta(json)])).kind).toBe("REFUSED");
        expect((await readAll([aMeta(text)])).kind).toBe("REFUSED");
      }),
      { numRuns: 100 },
    );
  });
});

describe("a bundle is refused", () => {
  test.each([
    ["without meta.json", [aFile("junit/0", UNIT)], "no meta.json"],
    ["without anything", [], "is empty"],
    [
      "with a meta.json of more than 1 MiB",
      [aMeta(" ".repeat(1024 * 1024 + 1))],
      "meta.json has more than 1048576 bytes",
    ],
  ])("%s", async (_, entries: readonly TarEntry[], why) => {
    expect(whyOf(await readAll(entries))).toContain(why);
  });

  test("when it is no archive", async () => {
    const junk = [Buffer.alloc(0), Buffer.from("a"), Buffer.from("<html>".repeat(200)), Buffer.alloc(100_000, 7)];
    for (const bytes of junk) {
      expect(whyOf(await read(bytes))).toMatch(/tar archive|damaged|empty/u);
      expect(whyOf(await read(zstdCompressSync(bytes)))).toMatch(/tar archive|damaged|empty/u);
    }
  });

  test("when it is cut off anywhere, compressed or not", async () => {
    const tar = await aTar();
    for (const whole of [tar, zstdCompressSync(tar), gzipSync(tar)]) {
      for (let length = 0; length < whole.length - 8; length += Math.ceil(whole.length / 60)) {
        expect(whyOf(await read(whole.subarray(0, length)))).not.toBeNull();
      }
    }
  });

  test("when it grows out of all proportion", async () => {
    const bomb = [aMeta(), aFile("junit/0", Buffer.alloc(8 * 1024 * 1024))];
    expect(whyOf(await readAll(bomb))).toContain("200 times");
    const unlisted = [aMeta(), aFile("junit/9", Buffer.alloc(8 * 1024 * 1024))];
    expect(whyOf(await read(gzipSync(await aTar(unlisted), { level: 9 })))).toContain("200 times");
  });

  test("when it passes a limit, and not just below", async () => {
    const tar = await aTar();
    const bytes = zstdCompressSync(tar);
    const cases: readonly (readonly [Partial<BundleLimits>, Partial<BundleLimits>, string])[] = [
      [{ compressedBytesMax: bytes.length }, { compressedBytesMax: bytes.length - 1 }, "more than"],
      [{ bytesMax: tar.length }, { bytesMax: tar.length - 1 }, "decompressed"],
      [{ entriesMax: 4 }, { entriesMax: 3 }, "3 entries"],
      [{ filesBytesMax: UNIT.length + 4 }, { filesBytesMax: UNIT.length + 3 }, "several bundles"],
      [{ metaBytesMax: JSON.stringify(META).length }, { metaBytesMax: 10 }, "meta.json has more than 10"],
      [{ freeBytes: tar.length }, { freeBytes: 0, ratioMax: 2 }, "2 times"],
    ];
    for (const [enough, tooFew, why] of cases) {
      expect(whyOf(await read(bytes, limited(enough)))).toBeNull();
      expect(whyOf(await read(bytes, limited(tooFew)))).toContain(why);
    }
  });

  test("but not for one large report, which is left out", async () => {
    const bundle = await readAll([...ENTRIES], limited({ fileBytesMax: 10, codeownersBytesMax: 2 }));
    expect(told(bundle)).toEqual({
      files: ["junit/1"],
      issues: [`junit/0: It has more than 10 bytes.`, "CODEOWNERS: It has more than 2 bytes."],
    });
  });

  test("and not when it is the source that fails: that is thrown as it is", async () => {
    const bytes = zstdCompressSync(await aTar());
    const failure = new Error("the connection was lost");
    for (const begin of [0, 2, bytes.length - 2]) {
      const source = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
        yield bytes.subarray(0, begin);
        throw failure;
      };
      await expect(readBundle(source())).rejects.toBe(failure);
    }
  });

  test("early, without reading on", async () => {
    let taken = 0;
    let isLetGo = false;
    const tar = await aTar([
      aMeta("{}"),
      ...Array.from({ length: 100 }, () => aFile("junit/0", Buffer.alloc(100_000, 1))),
    ]);
    const source = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
      try {
        for await (const chunk of inChunks(tar)) {
          taken += chunk.length;
          yield chunk;
        }
      } finally {
        isLetGo = true;
      }
    };
    expect(whyOf(await readBundle(source()))).toContain("meta.json");
    expect(taken).toBeLessThan(tar.length / 2);
    await expect.poll(() => isLetGo).toBe(true);
  });
});

describe("an archive made to do harm", () => {
  const extended = async (
    body: string | Uint8Array,
    type: NonNullable<TarHeader["type"]> = "pax-header",
  ): Promise<Bundle> => read(await aTar([aFile("x", body, { type }), ...ENTRIES]), limited({ ratioMax: 1_000 }));

  test.each([
    ["of a size nobody needs", "a".repeat(64 * 1024 + 1), "64 KB"],
    ["whose records overlap", "1\t".repeat(20_000), "extended header cannot be read"],
    ["whose records do not end", "12 a=b", "extended header cannot be read"],
    ["whose records have no name", "5 =a\n", "extended header cannot be read"],
    ["that states a size", "9 size=1\n", "states a size"],
  ])("by an extended header %s is refused", async (_, body, why) => {
    expect(whyOf(await extended(body))).toContain(why);
  });

  test("by a header for all entries, or by a name without end, is refused", async () => {
    expect(whyOf(await extended("9 path=a\n", "pax-global-header"))).toContain("for all entries");
    expect(whyOf(await extended("a".repeat(70_000), "gnu-long-name"))).toContain("64 KB");
  });

  test("by an extended name that leads outside is read without it", async () => {
    const bundle = await readAll([...ENTRIES, aFile("junit/2", "x", { pax: { path: "../../etc/passwd" } })]);
    expect(told(bundle).issues).toEqual(["../../etc/passwd: It names a place outside of the bundle."]);
  });

  test("by sizes that are none is refused", async () => {
    const tar = await aTar();
    for (const size of [
      [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
      [0x80, 0, 0, 0, 0, 0x1f],
      [0x2d, 0x31, 0],
      [0x39, 0x39, 0],
    ]) {
      expect(whyOf(await read(patched(tar, SIZE_AT, size)))).not.toBeNull();
    }
  });

  test("by a size stated where nothing follows hides no header", async () => {
    const hidden = await aTar([aFile("x", "1\t".repeat(100), { type: "pax-header" }), ...ENTRIES]);
    for (const type of ["link", "symlink", "character-device", "block-device", "directory", "fifo"] as const) {
      const header = (await aTar([{ header: { name: "x", size: 0, type } }])).subarray(0, 512);
      const sized = patched(header, SIZE_AT, Buffer.from("00000002000\0"));
      expect(whyOf(await read(Buffer.concat([sized, hidden])))).toContain("extended header cannot be read");
      expect(whyOf(await read(Buffer.concat([sized, await aTar()])))).toBeNull();
    }
  });

  test("by bytes changed, taken out or put in anywhere is read or refused, and nothing else", async () => {
    const tar = await aTar([aMeta(), aFile(`${"long/".repeat(60)}x.xml`, "x"), ...ENTRIES.slice(1)]);
    const wholes = [tar, zstdCompressSync(tar), gzipSync(tar)];
    const change = fc.record({ at: fc.nat(), of: fc.nat({ max: 20 }), put: fc.uint8Array({ maxLength: 20 }) });
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...wholes),
        fc.array(change, { minLength: 1, maxLength: 4 }),
        async (whole, changes) => {
          const changed = changes.reduce((so, { at, of, put }) => {
            const begin = at % (so.length + 1);
            return Buffer.concat([so.subarray(0, begin), put, so.subarray(begin + of)]);
          }, whole);
          expect(["READ", "REFUSED"]).toContain((await read(changed)).kind);
        },
      ),
      { numRuns: 400 },
    );
  });
});
