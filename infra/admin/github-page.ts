/** A page of this machine, for the time that a browser is away at GitHub: answers until one request is the awaited one. */
import { createServer } from "node:http";
import { CannotStart } from "../local/cannot-start.ts";

export type Page = { readonly status: number; readonly html: string };

/** `answer` says what to show, and, when it is done, what came of it. */
export function servePage<T>(
  port: number,
  answer: (url: URL) => Promise<{ readonly page: Page; readonly done?: T }>,
  ready: () => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const server = createServer((request, response) => {
      const show = ({ status, html }: Page, then?: () => void): void => {
        response.writeHead(status, { "content-type": "text/html; charset=utf-8", connection: "close" });
        response.end(html, then);
      };
      answer(new URL(request.url ?? "/", `http://127.0.0.1:${port}`)).then(
        ({ page, done }) =>
          show(page, () => {
            if (done === undefined) return;
            server.close();
            resolve(done);
          }),
        (error: unknown) =>
          show({ status: 500, html: "It did not work. The terminal says why." }, () => {
            server.close();
            reject(error instanceof Error ? error : new Error(String(error)));
          }),
      );
    });
    server.once("error", () => reject(new CannotStart(`Port ${port} is in use: choose another with --port.`)));
    server.listen(port, "127.0.0.1", ready);
  });
}
