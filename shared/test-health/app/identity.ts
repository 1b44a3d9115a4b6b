import { hash } from "node:crypto";

/** What a test is called, each part as it stands in the report; "" where it is missing. */
export type TestName = {
  /** The organization's slug. */
  readonly org: string;
  /** `host/owner/name`. */
  readonly repo: string;
  readonly file: string;
  readonly classname: string;
  /** The name of the outermost suite. */
  readonly parent: string;
  readonly name: string;
  /** The `id` attribute of the case. */
  readonly id: string;
  /** What tells apart tests that are called the same: a platform, a browser. */
  readonly variant: string;
};

/**
 * The identity of a test: a UUID of version 5 (RFC 9562 §5.5) in the URL namespace, the same that upload and quarantine
 * clients compute for themselves, so the texts that are hashed are theirs, constants and separators included.
 *
 * An `id` attribute that is itself a UUID of version 5 is used as it stands, and one that begins with `trunk:` counts
 * within its repository, wherever the test moves; any other `id` says nothing. A variant makes another test of it.
 */
export function testIdOf(test: TestName): string {
  const { org, repo, id, variant } = test;
  if (id.startsWith("trunk:")) return uuidOf(withVariant(`${org}#${repo}#${id}`, variant));
  if (UUID_5.test(id)) return variant === "" ? id : uuidOf(`${id}#${variant}`);
  const named = `${org}#${repo}#${test.file}#${test.classname}#${test.parent}#${test.name}#JUNIT_TESTCASE`;
  const once = uuidOf(withVariant(named, variant));
  // Clients hand their own id in as the `id` attribute of a second round.
  return variant === "" ? once : uuidOf(`${once}#${variant}`);
}

const withVariant = (text: string, variant: string): string => (variant === "" ? text : `${text}#${variant}`);

const HEX = "[0-9a-fA-F]";
const HYPHENATED = `${HEX}{8}-${HEX}{4}-5${HEX}{3}-${HEX}{4}-${HEX}{12}`;
/** In the four notations that clients read; its version digit is a 5. */
const UUID_5 = new RegExp(`^(?:${HEX}{12}5${HEX}{19}|${HYPHENATED}|\\{${HYPHENATED}\\}|urn:uuid:${HYPHENATED})$`, "u");

/** RFC 9562, appendix A: the namespace of URLs. */
const URL_NAMESPACE = Buffer.from("6ba7b8119dad11d180b400c04fd430c8", "hex");

/** @param text hashed as UTF-8 */
function uuidOf(text: string): string {
  const digest = hash("sha1", Buffer.concat([URL_NAMESPACE, Buffer.from(text, "utf8")]), "hex");
  // The two topmost bits of the ninth byte say which layout it is: 10.
  const layout = ((Number.parseInt(digest.charAt(16), 16) & 0b0011) | 0b1000).toString(16);
  const time = `${digest.slice(0, 8)}-${digest.slice(8, 12)}-5${digest.slice(13, 16)}`;
  return `${time}-${layout}${digest.slice(17, 20)}-${digest.slice(20, 32)}`;
}
