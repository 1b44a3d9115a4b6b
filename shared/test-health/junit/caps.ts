/** What is read of one file at most. Each has its own issue where it bites, and none loses what came before it. */

const KIB = 1024;

/** Of the file as it stands, after unpacking. */
export const READ_BYTES_MAX = 20 * KIB * KIB;
/** Elements within elements; what is deeper is passed over. */
export const DEPTH_MAX = 64;
/**
 * There reading stops: an open element costs memory, and the time of the lenient reader grows with how many are open,
 * where it counts none but JUnit's own.
 */
export const DEPTH_STOP = 128;
/** Attributes of one element; there reading stops, since each takes far more memory than bytes in the file. */
export const ATTRIBUTES_MAX = 1_000;
/** Characters of one attribute. */
export const ATTRIBUTE_CHARACTERS_MAX = 64 * KIB;
/** Characters of one failure's text. */
export const FAILURE_CHARACTERS_MAX = 64 * KIB;
export const CASES_MAX = 250_000;
/** Executions of one case; no runner tries as often. */
export const ATTEMPTS_MAX = 1_000;
/** One more says how many there are beyond. */
export const ISSUES_MAX = 100;
/** Bytes, and about as many characters, that are decoded and read at a time. */
export const CHUNK_BYTES = 64 * KIB;
