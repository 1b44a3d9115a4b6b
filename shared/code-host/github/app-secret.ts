/** The GitHub App of one service, with its secrets: a file on one machine, a secret of Secrets Manager on AWS. */
import * as z from "zod";

export const gitHubApp = z.object({
  /** The name under which its repositories are known. */
  host: z.string().min(1).toLowerCase().default("github.com"),
  /** Another for GitHub Enterprise Server: `https://<server>/api/v3`. */
  api: z.url({ protocol: /^https?$/u }).default("https://api.github.com"),
  /** Where its pages are. */
  web: z.url({ protocol: /^https?$/u }).default("https://github.com"),
  appId: z.int().positive(),
  slug: z.string().min(1),
  privateKey: z.string().regex(/-----BEGIN [A-Z ]*PRIVATE KEY-----/u, { error: "must be a PEM" }),
  webhookSecret: z.string().min(1),
  /** `none`: GitHub Enterprise Server limits nobody unless its administrator says so. */
  limits: z.enum(["github.com", "none"]).optional(),
});
export type GitHubAppSecret = z.infer<typeof gitHubApp>;

/** Nobody has put an App in it, or somebody took it out: a secret cannot be given an empty text again. */
export const isEmpty = (text: string | undefined): boolean => text === undefined || /^\s*(?:\{\s*\})?\s*$/u.test(text);

/** Undefined for a text that holds none. What is wrong with it is not told: an error would quote it. */
export function gitHubAppOf(text: string): GitHubAppSecret | undefined {
  try {
    return gitHubApp.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
