import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { createClient } from "../../../shared/code-host/github/client.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../shared/kernel/time.ts";
import { perform } from "../../../shared/queue/app/perform.ts";
import { isInQueue, shownEntry } from "../../../shared/queue/app/shown.ts";
import { submit } from "../../../shared/queue/app/submit.ts";
import { sharedTable, type Tables } from "../../support/table.ts";
import { aRig, NAME, type Rig, ROLES } from "./rig.ts";

const PERMISSION = "GET /repos/{owner}/{repo}/collaborators/{username}/permission";

let tables: Tables;
let rig: Rig;
beforeAll(async () => {
  tables = await sharedTable();
  rig = await aRig(tables);
});
afterAll(async () => {
  await rig.stop();
});
afterEach(() => rig.twin.faults.clear());

const isQueued = async (number: number, key = rig.key): Promise<boolean> => {
  const entry = await rig.entry(number, key);
  return entry !== undefined && isInQueue(shownEntry(entry));
};

describe("whoever comments", () => {
  test.each(ROLES)("as %s gets what that right allows, and no more", async (role) => {
    const writes = ["write", "maintain", "admin"].includes(role);
    const number = await rig.change();
    await rig.says(number, "/merge", role);
    expect(await isQueued(number)).toBe(writes);
    expect(rig.reactions(number)).toEqual(writes ? [] : ["confused"]);
    if (writes) expect((await rig.entry(number))?.submittedBy).toBe(`github:${role}`);
    else await rig.says(number, "/merge", "write");

    await rig.says(number, "/restart", role);
    expect((await rig.entry(number))?.asked.restart?.by).toBe(writes ? `github:${role}` : undefined);
    await rig.says(number, "/cancel", role);
    expect(await isQueued(number)).toBe(!writes);
    expect(await rig.said(number)).toBeUndefined();
    expect(rig.reactions(number)).toHaveLength(writes ? 0 : 3);
  });

  test.each(ROLES)("as %s is told why in a comment of its own, if they may write", async (role) => {
    const number = await rig.change();
    await rig.says(number, "/why", role);
    expect((await rig.app.heard.of(rig.key, number)).explainedAt !== null).toBe(
      ["write", "maintain", "admin"].includes(role),
    );
  });

  test.each(ROLES)("as %s goes ahead of everybody only if they may maintain", async (role) => {
    const number = await rig.change();
    await rig.says(number, "/merge --priority=urgent", role);
    expect((await rig.entry(number))?.priority.value).toBe(["maintain", "admin"].includes(role) ? 0 : undefined);
    expect(await rig.said(number)).toEqual(role === "write" ? expect.stringContaining("right to maintain") : undefined);
  });

  test("with a right that was taken away before anybody looked gets nothing", async () => {
    const number = await rig.change();
    rig.twin.setRole(NAME, "leaver", "write");
    const id = await rig.twin.comment(NAME, number, "leaver", "/merge");
    await rig.hinted({ kind: "COMMENT", prNumber: number, id, text: "/merge" });
    rig.twin.setRole(NAME, "leaver", "read");
    await rig.performs("hear");
    expect(await isQueued(number)).toBe(false);
    expect(rig.logged()).toContain("their right is READ");
  });

  test("as a bot is heard only where the queue names it, in any case and with or without its ending", async () => {
    const silent = await rig.change();
    rig.twin.setRole(NAME, "renovate[bot]", "admin");
    await rig.says(silent, "/merge", "renovate[bot]");
    expect(await isQueued(silent)).toBe(false);
    expect(rig.reactions(silent)).toEqual([]);
    for (const name of ["renovate[bot]", "Renovate"]) {
      await rig.set({ allowedBotSubmitters: [name] });
      const number = await rig.change();
      await rig.says(number, "/merge --priority=urgent", "renovate[bot]");
      expect(await isQueued(number)).toBe(false);
      await rig.says(number, "/merge", "renovate[bot]");
      expect(await isQueued(number)).toBe(true);
    }
    await rig.set({ allowedBotSubmitters: [] });
  });

  test("as the service itself is never heard, not even where the queue names it", async () => {
    const { appId, privateKey, slug } = rig.twin.app;
    await rig.set({ allowedBotSubmitters: [slug] });
    const number = await rig.change();
    const ask = createClient({ appId, privateKey, api: rig.twin.url }, rig.app.clock).as(
      await rig.twin.installation("acme"),
    );
    const at = { owner: "acme", repo: "app", issue_number: number, body: "/merge" };
    const { data } = await ask("POST /repos/{owner}/{repo}/issues/{issue_number}/comments", at);
    await rig.hinted({ kind: "COMMENT", prNumber: number, id: Number(data.id), text: "/merge" });
    await rig.performs("hear");
    expect(await isQueued(number)).toBe(false);
    expect(rig.logged()).toContain("it is the service's own");
    await rig.set({ allowedBotSubmitters: [] });
  });

  test("as a person is not heard because a bot of that name is", async () => {
    await rig.set({ allowedBotSubmitters: ["reader"] });
    const number = await rig.change();
    rig.twin.setRole(NAME, "reader", "read");
    await rig.says(number, "/merge", "reader");
    expect(await isQueued(number)).toBe(false);
    await rig.set({ allowedBotSubmitters: [] });
  });
});

describe("a comment", () => {
  const told = async (body = "/merge"): Promise<{ number: number; id: number }> => {
    const number = await rig.change();
    const id = await rig.twin.comment(NAME, number, "write", body);
    await rig.hinted({ kind: "COMMENT", prNumber: number, id, text: body });
    return { number, id };
  };

  test("that is gone, or was edited, before anybody looks does nothing", async () => {
    const gone = await told();
    await rig.twin.deleteComment(NAME, gone.id);
    const edited = await told();
    await new Promise((resolve) => setTimeout(resolve, 1100));
    await rig.twin.editComment(NAME, edited.id, "/merge --priority=high");
    await rig.performs("hear");
    for (const { number } of [gone, edited]) expect(await isQueued(number)).toBe(false);
    expect([rig.reactions(gone.number), rig.reactions(edited.number)]).toEqual([[], ["confused"]]);
    expect(rig.logged()).toMatch(/it is not there any more[^]*it was edited/u);
  });

  test("is heard once, whoever brings it again, and however often it is performed", async () => {
    const { number, id } = await told();
    const saying = { kind: "COMMENT", prNumber: number, id, text: "/merge" } as const;
    expect(await rig.hinted(saying, "another")).toBe("SEEN");
    await rig.performs("hear");
    await rig.says(number, "/cancel");
    expect(await isQueued(number)).toBe(false);
    expect(await rig.hinted(saying, "a-third")).toBe("SEEN");
    expect(await rig.performs("hear")).toBe(0);
    expect(await isQueued(number)).toBe(false);
  });

  test("that is brought again a week later does nothing", async () => {
    const own = await aRig(tables);
    const number = await own.change();
    const id = await own.twin.comment(NAME, number, "write", "/merge");
    own.passes(8 * DAY_MS);
    await own.hinted({ kind: "COMMENT", prNumber: number, id, text: "/merge" });
    await own.performs("hear");
    expect(await own.entry(number)).toBeUndefined();
    expect(own.logged()).toContain("more than an hour before");
    await own.stop();
  });

  test("of another pull request than the message says, or of none, does nothing", async () => {
    const number = await rig.change();
    const other = await rig.change();
    const id = await rig.twin.comment(NAME, number, "write", "/merge");
    await rig.hinted({ kind: "COMMENT", prNumber: other, id, text: "/merge" });
    await rig.hinted({ kind: "COMMENT", prNumber: 4_000_000, id: 1, text: "/merge" });
    await rig.performs("hear");
    expect(await isQueued(number)).toBe(false);
    expect(await isQueued(other)).toBe(false);
  });

  test("that is no command leaves nothing, and neither does one where commands are off", async () => {
    const number = await rig.change();
    const say = (text: string) => rig.hinted({ kind: "COMMENT", prNumber: number, id: 5, text });
    for (const text of ["", "looks good", "> /merge", "```\n/merge", "    /merge", "do /merge", "\n/merge", "/merged"])
      expect(await say(text)).toBe("IGNORED");
    await rig.set({ commandsEnabled: false });
    expect(await say("/merge")).toBe("IGNORED");
    await rig.set({ commandsEnabled: true });
  });

  test("is not even read where commands were turned off since", async () => {
    const { number } = await told();
    await rig.set({ commandsEnabled: false });
    rig.twin.counts.reset();
    await rig.performs("hear");
    expect(rig.twin.counts.of(PERMISSION)).toBe(0);
    expect(await isQueued(number)).toBe(false);
    await rig.set({ commandsEnabled: true });
  });
});

describe("a command", () => {
  test("on a closed or merged pull request is answered in words, and moves nothing", async () => {
    const number = await rig.change();
    await rig.twin.closePullRequest(NAME, number);
    await rig.says(number, "/merge");
    expect(await isQueued(number)).toBe(false);
    expect(await rig.said(number)).toContain("closed");
  });

  test("that cannot be read names all that is wrong, to those who may write", async () => {
    const number = await rig.change();
    await rig.says(number, "/merge --fast --priority=7000 @everybody `x`");
    expect(await rig.said(number)).toBe(
      "/merge cannot be done with --fast, --priority=7000, @everybody, `x`. " +
        "It takes --priority=urgent|high|medium|low|<0..255>, --no-batch, and --head=<commit, at least 7 digits>.",
    );
    await rig.says(number, "/merge --fast", "read");
    expect(rig.reactions(number)).toEqual(["confused"]);
    await rig.says(number, "/merge --priority=HIGH --no-batch");
    expect(await rig.entry(number)).toMatchObject({ priority: { value: 10 }, noBatch: true });
    expect(await rig.said(number)).toBeUndefined();
  });

  test("that was given again changes only what it names", async () => {
    const number = await rig.change();
    await rig.says(number, "/merge --priority=high");
    await rig.says(number, "/merge");
    await rig.says(number, "/merge --no-batch");
    const entry = await rig.entry(number);
    expect(entry && shownEntry(entry)).toMatchObject({ priority: { value: 10 }, noBatch: true });
  });

  test("that was done takes off the page what could not be done before, though nothing moves", async () => {
    const number = await rig.change();
    await rig.says(number, "/merge");
    await rig.says(number, "/merge --priority=urgent");
    await rig.performs("show");
    expect(rig.twin.comments(NAME, number).at(-1)?.body).toContain("right to maintain");
    await rig.says(number, "/merge");
    await rig.performs("show");
    expect(rig.twin.comments(NAME, number).find((one) => one.viaApp)?.body).not.toContain("right to maintain");
  });

  test("that is too late is told so", async () => {
    const number = await rig.change();
    await rig.says(number, "/cancel");
    expect(await rig.said(number)).toContain("never submitted");
    await rig.says(number, "/merge");
    expect(await rig.said(number)).toBeUndefined();
  });

  test("to cancel wins over one to merge that was given before it, in whatever order they are performed", async () => {
    for (const reversed of [false, true]) {
      const number = await rig.change();
      for (const text of ["/merge", "/cancel"]) {
        const id = await rig.twin.comment(NAME, number, "write", text);
        await rig.hinted({ kind: "COMMENT", prNumber: number, id, text });
      }
      await rig.performs("hear", rig.key, reversed);
      expect(await isQueued(number)).toBe(false);
    }
  });

  test("to merge wins over one to cancel that was given before it", async () => {
    for (const reversed of [false, true]) {
      const number = await rig.change();
      await rig.says(number, "/merge");
      for (const text of ["/cancel", "/merge"]) {
        const id = await rig.twin.comment(NAME, number, "write", text);
        await rig.hinted({ kind: "COMMENT", prNumber: number, id, text });
      }
      await rig.performs("hear", rig.key, reversed);
      // Cancelled, and not yet taken out of the queue: what comes after waits for that.
      await rig.advances();
      rig.passes(MINUTE_MS);
      await rig.performs("hear");
      expect(await isQueued(number)).toBe(true);
    }
  });

  test("is done once, though the process dies when it is done, and though GitHub fails while it is", async () => {
    const number = await rig.change();
    const id = await rig.twin.comment(NAME, number, "write", "/merge");
    await rig.hinted({ kind: "COMMENT", prNumber: number, id, text: "/merge" });
    rig.twin.faults.fail(1, 502, /permission/u);
    await rig.performs("hear");
    expect(await isQueued(number)).toBe(false);
    rig.passes(MINUTE_MS);
    rig.diesAt("effect:hear:done");
    await expect(rig.performs("hear")).rejects.toThrow("died");
    const first = await rig.entry(number);
    expect(first).toBeDefined();
    await rig.says(number, "/cancel");
    rig.passes(3 * MINUTE_MS);
    expect(await rig.performs("hear")).toBe(1);
    expect(await isQueued(number)).toBe(false);
    expect((await rig.entry(number))?.id).toBe(first?.id);
  });

  test("that died when it was done is not done again to what came after it", async () => {
    const number = await rig.change();
    await rig.says(number, "/merge");
    const cancels = await left(number, "/cancel");
    rig.diesAt("effect:hear:done");
    await expect(perform(rig.app, rig.key, cancels)).rejects.toThrow("died");
    await rig.advances();
    const again = { key: rig.key, prNumber: number, by: "a token" };
    expect(await submit(rig.app, again, () => undefined)).toMatchObject({ ok: true });
    rig.passes(3 * MINUTE_MS);
    await rig.performs("hear");
    expect(await isQueued(number)).toBe(true);
  });

  test("is forgotten when GitHub could not be asked for a day", async () => {
    const own = await aRig(tables);
    const number = await own.change();
    const id = await own.twin.comment(NAME, number, "write", "/merge");
    await own.hinted({ kind: "COMMENT", prNumber: number, id, text: "/merge" });
    own.twin.faults.fail(100, 502);
    await own.performs("hear");
    own.passes(25 * HOUR_MS);
    own.twin.faults.clear();
    expect(await own.performs("hear")).toBe(1);
    expect(await own.performs("hear")).toBe(0);
    expect(await own.entry(number)).toBeUndefined();
    await own.stop();
  });
});

describe("two queues", () => {
  test("hear what is for their own branch, and what cancels where the pull request still is", async () => {
    await rig.twin.push(NAME, "release", { on: "main", files: { "r.txt": "1\n" } });
    const release = await rig.queue("release");
    const perform = async (): Promise<void> => {
      await rig.performs("hear", release);
      await rig.performs("hear");
    };
    const number = await rig.change("release");
    await rig.says(number, "/merge");
    await perform();
    expect(await isQueued(number)).toBe(false);
    expect(await isQueued(number, release)).toBe(true);
    await rig.twin.editPullRequest(NAME, number, { base: "main" });
    await rig.says(number, "/cancel");
    await perform();
    expect(await isQueued(number, release)).toBe(false);
    expect(await rig.said(number)).toBeUndefined();
  });
});

describe("two commands at the same moment", () => {
  test("end as the later one says: what was not there to be cancelled is looked at again", async () => {
    const number = await rig.change();
    const [merges, cancels] = [await left(number, "/merge"), await left(number, "/cancel")];
    let crossed = 0;
    const write: typeof rig.app.heard.write = async (...all) => {
      if ((crossed += 1) === 1) await perform(rig.app, rig.key, merges);
      return rig.app.heard.write(...all);
    };
    await perform({ ...rig.app, heard: { ...rig.app.heard, write } }, rig.key, cancels);
    expect(crossed).toBeGreaterThan(0);
    expect((await rig.entry(number))?.submittedBy).toBe("github:write");
    expect(await isQueued(number)).toBe(false);
    expect(await rig.said(number)).toBeUndefined();
  });

  test("end so also where the earlier one is about to submit when the later one is done", async () => {
    const number = await rig.change();
    const [merges, cancels] = [await left(number, "/merge"), await left(number, "/cancel")];
    let crossed = 0;
    const submit: typeof rig.app.queues.submit = async (...all) => {
      if ((crossed += 1) === 1) await perform(rig.app, rig.key, cancels);
      return rig.app.queues.submit(...all);
    };
    await perform({ ...rig.app, queues: { ...rig.app.queues, submit } }, rig.key, merges);
    expect(crossed).toBeGreaterThan(0);
    rig.passes(MINUTE_MS);
    await rig.performs("hear");
    expect(await rig.entry(number)).toBeUndefined();
  });
});

/** The effect that a comment leaves. */
async function left(number: number, text: string): Promise<string> {
  const id = await rig.twin.comment(NAME, number, "write", text);
  await rig.hinted({ kind: "COMMENT", prNumber: number, id, text });
  return `hear:comment:${id}`;
}
