/** Whether it is a name of the IANA database, as this machine knows it. Offsets are none: they know no summer. */
export function isTimeZone(name: string): boolean {
  if (name !== "UTC" && !/^[A-Za-z]+\/[A-Za-z0-9_+/-]+$/u.test(name)) return false;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}
