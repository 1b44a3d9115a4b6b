/** A binary heap: the least comes out first. */
export type Heap<T> = { readonly items: T[]; readonly isBefore: (a: T, b: T) => boolean };

export const newHeap = <T>(isBefore: (a: T, b: T) => boolean): Heap<T> => ({ items: [], isBefore });

export const first = <T>(heap: Heap<T>): T | undefined => heap.items[0];

export function push<T>({ items, isBefore }: Heap<T>, item: T): void {
  let at = items.length;
  items.push(item);
  while (at > 0) {
    const above = (at - 1) >> 1;
    const parent = items[above];
    if (parent === undefined || !isBefore(item, parent)) break;
    items[at] = parent;
    at = above;
  }
  items[at] = item;
}

export function pop<T>({ items, isBefore }: Heap<T>): T | undefined {
  const top = items[0];
  const last = items.pop();
  if (last === undefined || items.length === 0) return top;
  let at = 0;
  for (;;) {
    const left = items[2 * at + 1];
    const right = items[2 * at + 2];
    if (left === undefined) break;
    const isRight = right !== undefined && isBefore(right, left);
    const child = isRight ? right : left;
    if (!isBefore(child, last)) break;
    items[at] = child;
    at = 2 * at + (isRight ? 2 : 1);
  }
  items[at] = last;
  return top;
}
