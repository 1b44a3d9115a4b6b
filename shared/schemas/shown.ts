/** So many strings of a list are shown; its total stands beside. */
export const STRINGS_SHOWN_MAX = 1000;
