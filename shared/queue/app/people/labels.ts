/** Names on GitHub are the same in any case. */
export const isSameLabel = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

/** A bot's login ends in `[bot]`, which people leave out. */
const bare = (login: string): string => login.toLowerCase().replace(/\[bot\]$/u, "");

export const isNamedBot = (login: string, allowed: readonly string[]): boolean =>
  allowed.some((one) => bare(one.trim()) === bare(login));
