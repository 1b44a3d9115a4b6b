/** What a route gets and what it answers. */
import type { Operation } from "../shapes/used.ts";
import type { Account, Installation, Level, Repository, Token, World } from "../world.ts";

export type Actor =
  | { readonly kind: "APP" }
  | { readonly kind: "INSTALLATION"; readonly installation: Installation; readonly token: Token };

export type Call = {
  readonly world: World;
  readonly actor: Actor;
  /** Whoever people see as the author of what this call does. */
  readonly sender: Account;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly body: Readonly<Record<string, unknown>>;
  readonly accept: string;
};

export type RepositoryCall = Call & { readonly repo: Repository };

export type Answer = {
  readonly status: number;
  readonly body?: unknown;
  readonly raw?: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
};

/** What the App has to be allowed for this. */
export type Needs = { readonly permission: string; readonly level: Level };

export type Route = { readonly operation: Operation } & (
  | { readonly as: "APP" | "INSTALLATION" | "ANYBODY"; readonly handle: (call: Call) => Promise<Answer> | Answer }
  | {
      readonly as: "REPOSITORY";
      readonly needs: Needs | null;
      readonly handle: (call: RepositoryCall) => Promise<Answer> | Answer;
    }
);

/** An answer that ends the work. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly answer: Answer;
  constructor(status: number, message: string, more: object = {}, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    const body = { message, documentation_url: "https://docs.github.com/rest", status: `${status}`, ...more };
    this.answer = { status, body, headers };
  }
}

export const notFound = (): Refusal => new Refusal(404, "Not Found");

export const unprocessable = (message: string): Refusal => new Refusal(422, message);

export const invalid = (resource: string, code: string, message: string, field?: string): Refusal =>
  new Refusal(422, "Validation Failed", {
    errors: [{ resource, code, message, ...(field === undefined ? {} : { field }) }],
  });

export const ok = (body: unknown): Answer => ({ status: 200, body });
export const created = (body: unknown): Answer => ({ status: 201, body });
export const noContent: Answer = { status: 204 };

/** To another path of the API. */
export function redirect(world: World, path: string): Answer {
  const location = `${world.url}${path}`;
  const body = { message: "Moved Permanently", url: location, documentation_url: "https://docs.github.com/rest" };
  return { status: 301, body, headers: { location } };
}

const PAGE_MOST = 100;

/** One page of a list, with the `Link` header; `wrap` puts the page into GitHub's envelope. */
export async function page<T>(
  call: Call,
  all: readonly T[],
  render: (one: T) => unknown,
  wrap: (items: readonly unknown[], total: number) => unknown = (items) => items,
): Promise<Answer> {
  const per = Math.min(PAGE_MOST, Math.max(1, Number(call.query.get("per_page") ?? 30) || 30));
  const at = Math.max(1, Number(call.query.get("page") ?? 1) || 1);
  const last = Math.max(1, Math.ceil(all.length / per));
  const items = await Promise.all(all.slice((at - 1) * per, at * per).map((one) => render(one)));
  return { status: 200, body: wrap(items, all.length), headers: links(at, last) };
}

/** Relative pages, which the server turns into addresses of the request at hand. */
function links(at: number, last: number): Readonly<Record<string, string>> {
  const pages = [
    ...(at > 1 ? [`prev=${at - 1}`] : []),
    ...(at < last ? [`next=${at + 1}`, `last=${last}`] : []),
    ...(at > 1 ? ["first=1"] : []),
  ];
  return pages.length === 0 ? {} : { "x-pages": pages.join(",") };
}

export const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
