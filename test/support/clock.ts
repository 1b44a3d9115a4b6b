/** The time of this process: as the machine's, and as far ahead of it as a test has let time pass. */
const machine = globalThis.Date;

let aheadMs = 0;

class MovedDate extends machine {
  constructor(...given: [] | [number | string | Date] | ConstructorParameters<typeof Date>) {
    if (given.length === 0) super(machine.now() + aheadMs);
    // Safe: what is given is what the machine's own constructor takes.
    else super(...(given as ConstructorParameters<typeof Date>));
  }

  static override now(): number {
    return machine.now() + aheadMs;
  }
}

/** Lets so much time pass at once. Timers are not moved: what waits for one goes on waiting. */
export function passes(ms: number): void {
  globalThis.Date = MovedDate as DateConstructor;
  aheadMs += ms;
}

/** Back to the machine's time. */
export function present(): void {
  globalThis.Date = machine;
  aheadMs = 0;
}
