// A screen that is drawn again and again: the alternate buffer of a terminal. Without a terminal each drawing follows
// the one before, with an empty line between.
import type { CliIo } from '../io.ts';

export interface LiveScreen {
  readonly draw: (text: string) => void;
  /** Gives the terminal back. */
  readonly close: () => void;
}

// Sequences of xterm: https://invisible-island.net/xterm/ctlseqs/ctlseqs.html
const ENTER = '\u001B[?1049h\u001B[?25l';
const LEAVE = '\u001B[?25h\u001B[?1049l';
const HOME = '\u001B[H';
const CLEAR_LINE = '\u001B[K';
const CLEAR_BELOW = '\u001B[J';

export function openLiveScreen({ screen, stdout }: Pick<CliIo, 'screen' | 'stdout'>): LiveScreen {
  if (screen === undefined) {
    let isFirst = true;
    return {
      draw: (text) => {
        stdout(isFirst ? text : `\n${text}`);
        isFirst = false;
      },
      close: () => {},
    };
  }
  stdout(ENTER);
  return {
    draw: (text) => {
      const lines = text.trimEnd().split('\n').slice(0, screen.size().rows);
      stdout(`${HOME}${lines.map((line) => `${line}${CLEAR_LINE}`).join('\r\n')}${CLEAR_BELOW}`);
    },
    close: () => stdout(LEAVE),
  };
}
