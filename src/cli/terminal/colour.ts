// Colour for people, never for programs: colour only repeats what a sign or a word says already.
import { styleText } from 'node:util';
import type { CliIo } from '../io.ts';

/** `good`, `warn` and `bad` are for standings and results; `strong` is for titles, `faint` for what matters less. */
export type Style = 'good' | 'warn' | 'bad' | 'strong' | 'faint';

export type Paint = (style: Style, text: string) => string;

const FORMATS = { good: 'green', warn: 'yellow', bad: 'red', strong: 'bold', faint: 'dim' } as const;

/**
 * Off if standard output is not a terminal, if NO_COLOR is set (https://no-color.org) or if TERM is `dumb`. FORCE_COLOR
 * turns it on in every case, except as `0` or `false`, which turn it off.
 */
export function paintFor({ env, screen }: Pick<CliIo, 'env' | 'screen'>): Paint {
  const isOn = isColourOn(env, screen !== undefined);
  return (style, text) => (isOn ? styleText(FORMATS[style], text, { validateStream: false }) : text);
}

function isColourOn(env: CliIo['env'], isTerminal: boolean): boolean {
  const { FORCE_COLOR: forced, NO_COLOR: none, TERM: terminal } = env;
  if (forced !== undefined) return forced !== '0' && forced !== 'false';
  return isTerminal && !none && terminal !== 'dumb';
}
