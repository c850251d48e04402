// The output of a running sandbox: lines of three voices, and on a terminal one status line below them.
import { styleText } from 'node:util';

/** `cluster`: members and their managers. `pointsman`: the proxy. `sandbox`: answers to keys and verbs. */
export type Voice = 'cluster' | 'pointsman' | 'sandbox';

export interface Terminal {
  readonly write: (text: string) => void;
  readonly colour: boolean;
  /** The width: a status line that wraps could not be replaced. */
  readonly columns: () => number;
  /** Calls its argument with each key from now on; undefined without a terminal. */
  readonly onKey: ((listener: (key: string) => void) => void) | undefined;
  /** Calls its argument when the process is told to end. */
  readonly onEnd: (listener: () => void) => void;
}

const VOICES = { cluster: 'cyan', pointsman: 'green', sandbox: 'magenta' } as const;
const LEVELS = { warn: 'yellow', error: 'red' } as const;
const WIDTH = Math.max(...Object.keys(VOICES).map((voice) => voice.length));
const CLEAR_LINE = '\r\u001b[K';

export class SandboxScreen {
  readonly #terminal: Terminal;
  #status = '';

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  /** One line with its time. */
  line(voice: Voice, text: string, level?: string): void {
    const style = level === 'warn' || level === 'error' ? LEVELS[level] : undefined;
    const time = this.#paint('dim', new Date().toTimeString().slice(0, 8));
    const who = this.#paint(VOICES[voice], voice.padEnd(WIDTH));
    this.block(`${time}  ${who}  ${style === undefined ? text : this.#paint(style, text)}`);
  }

  /** As it is. */
  block(text: string): void {
    const { write } = this.#terminal;
    if (this.#status === '') write(`${text}\n`);
    else write(`${CLEAR_LINE}${text}\n${this.#status}`);
  }

  /** Replaces the status line; `''` removes it. Without a terminal there is none. */
  status(text: string): void {
    const { onKey, columns, write } = this.#terminal;
    const fitting = text.slice(0, columns() - 1);
    if (onKey === undefined || fitting === this.#status) return;
    this.#status = fitting;
    write(`${CLEAR_LINE}${fitting}`);
  }

  #paint(style: Parameters<typeof styleText>[0], text: string): string {
    return this.#terminal.colour ? styleText(style, text, { validateStream: false }) : text;
  }
}
