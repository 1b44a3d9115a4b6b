/** Every code of the API and its status. Codes are stable: clients branch on them. */
export const STATUS_OF = {
  INVALID_REQUEST: 400,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  ORGANIZATION_NOT_FOUND: 404,
  REPOSITORY_NOT_FOUND: 404,
  QUEUE_NOT_FOUND: 404,
  PULL_REQUEST_NOT_FOUND: 404,
  TEST_RUN_NOT_FOUND: 404,
  UPLOAD_NOT_FOUND: 404,
  TEST_NOT_FOUND: 404,
  MAINTENANCE_WINDOW_NOT_FOUND: 404,
  UNKNOWN_PATH: 404,
  METHOD_NOT_ALLOWED: 405,
  QUEUE_ALREADY_EXISTS: 409,
  QUEUE_NOT_EMPTY: 409,
  PULL_REQUEST_NOT_IN_QUEUE: 409,
  PULL_REQUEST_ALREADY_MERGED: 409,
  PULL_REQUEST_LANDING: 409,
  MODE_CHANGE_IN_PROGRESS: 409,
  TOO_MANY_MAINTENANCE_WINDOWS: 409,
  IDEMPOTENCY_IN_PROGRESS: 409,
  BODY_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  IDEMPOTENCY_KEY_REUSED: 422,
  TOO_MANY_REQUESTS: 429,
  INTERNAL: 500,
  UNAVAILABLE: 503,
} as const;

export type ErrorCode = keyof typeof STATUS_OF;

const isErrorCode = (text: string): text is ErrorCode => Object.hasOwn(STATUS_OF, text);
export const ERROR_CODES: readonly ErrorCode[] = Object.keys(STATUS_OF).filter(isErrorCode);

/** What any use case may answer beside its route's own codes: a request only it can judge, a lost race, a throttle. */
export type CommonError = "INVALID_REQUEST" | "UNAVAILABLE" | "TOO_MANY_REQUESTS";
