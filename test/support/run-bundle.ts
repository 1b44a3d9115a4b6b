/**
 * A process that loads one bundle and calls its handler with each event that it is sent, as the runtime does. What the
 * handler says to the log goes to stdout.
 */
const [path = "", name = "", msMax = ""] = process.argv.slice(2);

const module: { readonly handler?: unknown } = await import(path);
const handler = functionOf(module.handler);

function functionOf(value: unknown): (event: unknown, context: unknown) => unknown {
  if (typeof value !== "function") throw new Error(`${path} exports no handler`);
  return (event, context): unknown => value(event, context);
}

process.on("message", ({ event }: { readonly event: unknown }) => {
  // Set before any timer of the handler's: it fires after all that were meant to fire earlier, however busy it is here.
  let isOver = false;
  const over = setTimeout(() => {
    isOver = true;
  }, Number(msMax));
  const until = performance.now() + Number(msMax);
  const context = {
    functionName: name,
    functionVersion: "$LATEST",
    awsRequestId: "invocation-1",
    invokedFunctionArn: `arn:aws:lambda:eu-central-1:123456789012:function:${name}`,
    memoryLimitInMB: "512",
    getRemainingTimeInMillis: () => Math.round(until - performance.now()),
  };
  void answer(event, context, () => isOver).finally(() => clearTimeout(over));
});
// Connections to the table are kept, and would keep the process.
process.on("disconnect", () => process.exit(0));
process.send?.({ ready: true });

async function answer(event: unknown, context: unknown, isOver: () => boolean): Promise<void> {
  try {
    const answered = (await handler(event, context)) ?? null;
    process.send?.({ answer: answered, isLate: isOver() });
  } catch (error) {
    process.send?.({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
}
