/**
 * Holds builds until a test lets them go. A check whose command is `gate.command` asks here and waits for its verdict;
 * it is known by what it tests: the numbers of its pull requests in order, `1` or `1,2`.
 */
import { createServer, type ServerResponse } from "node:http";

export type Gate = {
  /** A shell command, for a check. */
  readonly command: string;
  /** Contents whose checks wait now. */
  readonly waiting: () => readonly string[];
  /** How many checks have asked about this content since the gate was made. */
  readonly asked: (content: string) => number;
  /** Lets checks of this content pass, those to come as well. */
  readonly pass: (content: string) => void;
  readonly fail: (content: string) => void;
  /** Lets go whatever waits now: for after a test, so that one that failed half-way holds nobody else's checks up. */
  readonly clear: () => void;
  readonly stop: () => Promise<void>;
};

type Verdict = 200 | 500;

export async function aGate(): Promise<Gate> {
  const held = new Map<ServerResponse, string>();
  const verdicts = new Map<string, Verdict>();
  const asked: string[] = [];

  const answer = (response: ServerResponse, verdict: Verdict): void => {
    held.delete(response);
    response.writeHead(verdict).end();
  };
  const decide = (content: string, verdict: Verdict): void => {
    verdicts.set(content, verdict);
    for (const [response, of] of held) if (of === content) answer(response, verdict);
  };
  const server = createServer((request, response) => {
    const content = decodeURIComponent((request.url ?? "/").slice(1));
    asked.push(content);
    const verdict = verdicts.get(content);
    held.set(response, content);
    // A check that is killed hangs up.
    response.on("close", () => held.delete(response));
    if (verdict !== undefined) answer(response, verdict);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  const port = address !== null && typeof address === "object" ? address.port : 0;
  return {
    command: `curl -sf http://127.0.0.1:${port}/$MAINLINE_PULL_REQUESTS`,
    waiting: () => [...held.values()],
    asked: (content) => asked.filter((one) => one === content).length,
    pass: (content) => decide(content, 200),
    fail: (content) => decide(content, 500),
    clear: () => {
      for (const [response] of held) answer(response, 200);
    },
    stop: () => {
      server.closeAllConnections();
      return new Promise((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}
