import { hash } from "node:crypto";
import { type Failure, fingerprintOf, summaryOf } from "../detect/fingerprint.ts";

/** What failures of one cause have in common. */
export type Fingerprint = {
  /** 32 hexadecimal digits. */
  readonly key: string;
  /** One line, at most 500 characters. */
  readonly summary: string;
};

/** 128 of the 256 bits: two causes of one test never meet by chance. */
const KEY_DIGITS = 32;

/** The fingerprint of a failure, whose parts are taken as they stand in the report. */
export function fingerprintKeyOf(failure: Failure): Fingerprint {
  const summary = summaryOf(failure);
  const key = hash("sha256", fingerprintOf({ type: failure.type, summary }), "hex").slice(0, KEY_DIGITS);
  return { key, summary };
}
