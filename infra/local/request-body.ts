import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";

/** The client went away, or took too long. Nobody is there to answer. */
export class ClientGone extends Error {
  override readonly name = "ClientGone";
}

/**
 * At most `bytesMax` + 1 bytes: enough to see that it was too much, never more memory than that. The rest is left
 * unread; Node throws it away after the answer.
 */
export function readBody(request: IncomingMessage, bytesMax: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const take = (chunk: Buffer): void => {
      chunks.push(chunk);
      length += chunk.length;
      if (length > bytesMax) done();
    };
    const gone = (): void => {
      stopListening();
      reject(new ClientGone("the client went away before its request was complete"));
    };
    const done = (): void => {
      stopListening();
      request.pause();
      resolve(Buffer.concat(chunks, Math.min(length, bytesMax + 1)));
    };
    const stopListening = (): void => {
      request.off("data", take).off("end", done).off("close", gone).off("error", gone);
      request.on("error", () => {});
    };
    request.on("data", take).on("end", done).on("close", gone).on("error", gone);
  });
}

type EventBody = { readonly body?: string; readonly isBase64Encoded: boolean };

/** Text as it is, without a detour over base64; bytes that are not UTF-8 in base64, so that none is lost. */
export function eventBody(bytes: Buffer): EventBody {
  if (bytes.length === 0) return { isBase64Encoded: false };
  return isUtf8(bytes)
    ? { body: bytes.toString("utf8"), isBase64Encoded: false }
    : { body: bytes.toString("base64"), isBase64Encoded: true };
}
