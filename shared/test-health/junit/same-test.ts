import type { CaseIdentity } from "./report.ts";

/** The same for cases of the same test within a file, and for no others. */
export const keyOf = ({ id, name, classname, parent, file, variant }: CaseIdentity): string =>
  JSON.stringify([id, name, classname, parent, file, variant]);
