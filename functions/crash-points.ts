import type { CrashPoint } from "../shared/queue/app/ports.ts";

/**
 * For the crash test alone: `MAINLINE_CRASH_AT=<point>:<n>` ends the process without any goodbye when it passes the
 * point for the n-th time. Unset, as everywhere else, it does nothing.
 */
export function crashPoints(setting: string | undefined): (point: CrashPoint) => void {
  const at = setting?.lastIndexOf(":") ?? -1;
  if (setting === undefined || at < 0) return () => {};
  const wanted = setting.slice(0, at);
  let left = Number(setting.slice(at + 1));
  return (point) => {
    if (point !== wanted) return;
    left -= 1;
    if (left <= 0) process.kill(process.pid, "SIGKILL");
  };
}
