/** For a process that works for another one, which holds its standard input open: it ends when the other one does. */
export function endWithOwner(): void {
  process.stdin.once("close", () => process.exit(1));
  process.stdin.resume();
  // It keeps nobody from ending by itself.
  if ("unref" in process.stdin) process.stdin.unref();
}
