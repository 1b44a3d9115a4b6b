import * as z from "zod";
import { targetBranch } from "./branch.ts";

const LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?";
const HOST = new RegExp(`^(?=.{1,253}$)${LABEL}(?:\\.${LABEL})*$`, "u");

export const host = z.string().regex(HOST, "must be a host name, such as github.com");

const NAME = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$/u;
// Names become folders of the git host. The hosts' own rules are within these, so that one rule serves all hosts.
const isName = (name: string): boolean => NAME.test(name) && !name.includes("..") && !/\.(?:git|lock)$/iu.test(name);

const name = z
  .string()
  .refine(
    isName,
    'must be 1 to 100 of A-Z a-z 0-9 . _ -, not begin with "." or "-", hold "..", or end in ".git" or ".lock"',
  );

/** As sent; `repoKey` of the kernel makes it comparable. */
export const repo = z.object({ host, owner: name, name }).meta({ id: "Repo" });

export const repoView = z
  .object({ host: z.string(), owner: z.string(), name: z.string() })
  .meta({ id: "RepoView", description: "A repository; names compare without regard to case." });

/** `owner/name`, as in query strings. */
export const repoPath = z
  .string()
  .refine((path) => path.split("/").length === 2 && path.split("/").every(isName), "must be owner/name")
  .transform((path) => {
    const [owner = "", name = ""] = path.split("/");
    return { owner, name };
  });

/** What names a queue in nearly every request. */
export const queueRef = z.object({ repo, targetBranch });
