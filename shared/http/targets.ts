import { fail, ok, type Result } from "../kernel/result.ts";
import { type ImpactedTargets, impactedTargets } from "../schemas/impacted-targets.ts";
import { textOfBytes } from "./body.ts";
import { inWords, invalid } from "./issues.ts";

/** An uploaded file: the JSON list (or "ALL") that `impactedTargets` would have held, gzip or not. */
export async function targetsOfBytes(
  bytes: Uint8Array,
): Promise<Result<ImpactedTargets, "INVALID_REQUEST" | "BODY_TOO_LARGE">> {
  const text = await textOfBytes(Buffer.from(bytes));
  if (!text.ok) return text;
  const read = impactedTargets.safeParse(parsed(text.value), { error: inWords });
  return read.success
    ? ok(read.data)
    : fail("INVALID_REQUEST", `The uploaded file: ${invalid(read.error).fault.message}`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
