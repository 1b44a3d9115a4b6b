/** Remembers values up to so many bytes in all; what was asked for least recently is forgotten first. */
export function byteCache<Value>(bytesMax: number) {
  const held = new Map<string, { readonly value: Value; readonly bytes: number }>();
  let total = 0;
  const forget = (key: string): void => {
    total -= held.get(key)?.bytes ?? 0;
    held.delete(key);
  };
  return {
    get: (key: string): Value | undefined => {
      const found = held.get(key);
      if (found === undefined) return undefined;
      held.delete(key);
      held.set(key, found);
      return found.value;
    },
    /** A value that alone exceeds the bound is not kept. */
    put: (key: string, value: Value, bytes: number): void => {
      forget(key);
      if (bytes > bytesMax) return;
      held.set(key, { value, bytes });
      total += bytes;
      for (const oldest of held.keys()) {
        if (total <= bytesMax) return;
        forget(oldest);
      }
    },
  };
}
