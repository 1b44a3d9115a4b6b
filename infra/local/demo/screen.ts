/** What the demo shows: a table that is redrawn in place in a terminal, one line for each change elsewhere. */
export type Row = {
  readonly number: number;
  readonly title: string;
  readonly state: string;
  /** What it waits for, or why it ended. */
  readonly why: string;
};

export type Move = {
  readonly number: number;
  readonly from: string | null;
  readonly to: string;
  readonly reason: string;
  readonly message: string;
  readonly testRunId: string | null;
  /** Milliseconds since 1970. */
  readonly at: number;
};

export type Screen = {
  /** Whether `rows` are shown: nobody has to be asked for what nobody sees. */
  readonly live: boolean;
  readonly say: (text: string) => void;
  /** What the service answered, below what was said. */
  readonly quote: (text: string) => void;
  readonly heading: (text: string) => void;
  readonly moved: (move: Move) => void;
  readonly rows: (queue: string, rows: readonly Row[]) => void;
};

type Output = {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  readonly write: (text: string) => unknown;
};

/** A table that wraps, or is higher than the terminal, cannot be redrawn in place. */
const COLUMNS_MIN = 70;
const ROWS_MIN = 16;
const fits = ({ columns = 80, rows = 24 }: Output): boolean => columns >= COLUMNS_MIN && rows >= ROWS_MIN;

const COLOURS: Readonly<Record<string, string>> = {
  MERGED: "32",
  FAILED: "31",
  CANCELLED: "35",
  TESTING: "36",
  TESTS_PASSED: "36",
  NOT_READY: "33",
  PENDING_FAILURE: "33",
};
const STATE_WIDTH = 15;
const TITLE_WIDTH = 27;

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1).padStart(5)} s`;
const fit = (text: string, width: number): string =>
  text.length <= width ? text.padEnd(width) : `${text.slice(0, Math.max(0, width - 1)).toWellFormed()}…`;

const QUOTE_WIDTH = 100;

/** Into lines of at most so many characters, between words; further lines stand a little to the right. */
export function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(last === undefined ? word : `  ${word}`);
  }
  return lines;
}

export function createScreen(output: Output, env: NodeJS.ProcessEnv): Screen {
  const since = Date.now();
  const print = (line: string): void => void output.write(`${line}\n`);
  const at = (time: number, text: string): void => print(`${seconds(time - since)}  ${text}`);
  const heading = (text: string): void => print(`\n${text}\n${"-".repeat(text.length)}`);
  const plain: Screen = {
    live: false,
    say: (text) => at(Date.now(), `> ${text}`),
    quote: (text) => {
      for (const line of wrap(text, QUOTE_WIDTH)) print(`${" ".repeat(9)}| ${line}`);
    },
    heading,
    moved: ({ number, from, to, message, at: time }) =>
      at(time, `#${String(number).padEnd(3)}${fit(from ?? "", STATE_WIDTH)} -> ${fit(to, STATE_WIDTH)} ${message}`),
    rows: () => {},
  };
  return output.isTTY === true && env["TERM"] !== "dumb" && fits(output)
    ? live(output, plain, env["NO_COLOR"] === undefined)
    : plain;
}

function live(output: Output, plain: Screen, coloured: boolean): Screen {
  let drawn: readonly string[] = [];
  const up = (): string => (drawn.length === 0 ? "" : `\u001b[${drawn.length}A\u001b[0J`);
  const draw = (lines: readonly string[]): void => {
    output.write(`${up()}${lines.map((line) => `${line}\n`).join("")}`);
    drawn = lines;
  };
  const paint = (state: string): string => {
    const colour = coloured ? COLOURS[state] : undefined;
    return colour === undefined ? fit(state, STATE_WIDTH) : `\u001b[${colour}m${fit(state, STATE_WIDTH)}\u001b[0m`;
  };
  const width = (): number => (output.columns ?? 80) - 1;
  const line = ({ number, title, state, why }: Row): string => {
    const room = Math.max(0, width() - TITLE_WIDTH - STATE_WIDTH - 7);
    return `${`#${number}`.padStart(4)} ${fit(title, TITLE_WIDTH)} ${paint(state)} ${fit(why, room).trimEnd()}`;
  };
  const above = (print: () => void): void => {
    const table = drawn;
    draw([]);
    print();
    draw(table);
  };
  return {
    live: true,
    say: (text) => above(() => plain.say(text)),
    quote: (text) => above(() => plain.quote(text)),
    heading: (text) => {
      // What was drawn stays where it is; nothing is redrawn from here on.
      drawn = [];
      plain.heading(text);
    },
    moved: () => {},
    rows: (queue, rows) => draw(["", fit(queue, width()).trimEnd(), ...rows.map(line)]),
  };
}
