/** `context` is handed to the function as it is. */
type AuthorizerAnswer = { readonly isAuthorized: boolean; readonly context: Readonly<Record<string, unknown>> };

export type Authorize = (token: string) => Promise<AuthorizerAnswer>;

type Entry = { readonly answer: Promise<AuthorizerAnswer>; readonly until: number };

const KEEP_MS = 5_000;
const ENTRIES_MAX = 1_000;
/** Longer ones are no tokens of ours, and would fill the memory. */
const TOKEN_LENGTH_MAX = 100;

/**
 * The gateway's cache of authorizer answers, good and bad alike: five seconds here against sixty on AWS, so that
 * somebody who revokes a token at the terminal sees it. Requests at the same time share one look-up.
 */
export function cachedAuthorizer(authorize: Authorize, now: () => number = () => performance.now()): Authorize {
  const entries = new Map<string, Entry>();

  const remember = (token: string, answer: Promise<AuthorizerAnswer>): void => {
    const oldest = entries.keys().next();
    if (entries.size >= ENTRIES_MAX && oldest.done !== true) entries.delete(oldest.value);
    const entry = { answer, until: now() + KEEP_MS };
    entries.set(token, entry);
    // A look-up that failed is asked again at once.
    answer.catch(() => entries.get(token) === entry && entries.delete(token));
  };

  return (token) => {
    if (token.length > TOKEN_LENGTH_MAX) return authorize(token);
    const known = entries.get(token);
    if (known !== undefined && known.until > now()) return known.answer;
    entries.delete(token);
    const answer = authorize(token);
    remember(token, answer);
    return answer;
  };
}
