/** What a token may do. No scope contains another: a token that submits and reads carries both. */
export const SCOPES = ["read", "submit", "admin"] as const;

export type Scope = (typeof SCOPES)[number];

export const isScope = (text: string): text is Scope => SCOPES.some((scope) => scope === text);
