/** One structured line per call. A port: fields must not hold secrets. */
export type Log = {
  readonly info: (message: string, fields?: Readonly<Record<string, unknown>>) => void;
  readonly warn: (message: string, fields?: Readonly<Record<string, unknown>>) => void;
  readonly error: (message: string, fields?: Readonly<Record<string, unknown>>) => void;
};

export const silentLog: Log = { info: () => {}, warn: () => {}, error: () => {} };
