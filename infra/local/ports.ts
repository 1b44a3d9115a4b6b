import { connect, createServer } from "node:net";

/** A port that nothing listens on now. Another process may take it first: whoever uses it copes with that. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() => {
        if (address !== null && typeof address === "object") resolve(address.port);
        else reject(new Error("no free port"));
      });
    });
  });
}

export type Place = { readonly port: number; readonly host: string } | { readonly path: string };

/** Whether something accepts connections there. */
export function answers(place: Place): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ ...place, timeout: 1_000 });
    const done = (outcome: boolean): void => {
      socket.destroy();
      resolve(outcome);
    };
    socket.once("connect", () => done(true));
    socket.once("error", () => done(false));
    socket.once("timeout", () => done(false));
  });
}
