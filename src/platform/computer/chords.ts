// Keys by the names that agents use (those of X11, such as `Return` or `ctrl+Page_Down`), as the browser names them.
import type { Chord } from './tool-members.ts';
import { ScreenFault } from './agent-screen.ts';
import { shown } from '../../model/printable.ts';

const LIMIT = 100;

const NAMED: ReadonlyMap<string, string> = new Map([
  ...pairs('Enter', 'return enter kp_enter'),
  ...pairs('Escape', 'escape esc'),
  ...pairs('Tab', 'tab iso_left_tab'),
  ...pairs('Space', 'space'),
  ...pairs('Backspace', 'backspace'),
  ...pairs('Delete', 'delete del'),
  ...pairs('Insert', 'insert'),
  ...pairs('Home', 'home'),
  ...pairs('End', 'end'),
  ...pairs('PageUp', 'page_up pageup prior'),
  ...pairs('PageDown', 'page_down pagedown next'),
  ...pairs('ArrowUp', 'up arrowup'),
  ...pairs('ArrowDown', 'down arrowdown'),
  ...pairs('ArrowLeft', 'left arrowleft'),
  ...pairs('ArrowRight', 'right arrowright'),
  ...pairs('Control', 'ctrl control control_l ctrl_l'),
  ...pairs('Shift', 'shift shift_l'),
  ...pairs('Alt', 'alt alt_l option'),
  ...pairs('Meta', 'meta super super_l cmd command win'),
  ...pairs('+', 'plus'),
  ...pairs('-', 'minus'),
  ...Array.from({ length: 12 }, (_, index) => [`f${index + 1}`, `F${index + 1}`] as const),
]);

function pairs(key: string, names: string): readonly (readonly [string, string])[] {
  return names.split(' ').map((name) => [name, key]);
}

/** Reads `ctrl+a` or `Return`. Throws a ScreenFault that names the unknown key. */
export function chordOf(text: string): Chord {
  // The last plus of `ctrl++` is a key.
  const names = text.split(/\+(?!$)/);
  return names.map((name) => {
    const key = NAMED.get(name.toLowerCase()) ?? (/^[!-~]$/.test(name) ? name : undefined);
    if (key === undefined)
      throw new ScreenFault(`unknown key ${JSON.stringify(shown(name))}: write a, Return, Page_Down or ctrl+a`);
    return key;
  });
}

/** Several chords in their order: `Tab Tab Return`. Throws a ScreenFault. */
export function chordsOf(text: string): readonly Chord[] {
  const words = text.split(/\s+/).filter((word) => word !== '');
  if (words.length === 0) throw new ScreenFault('text names no key');
  if (words.length > LIMIT) throw new ScreenFault(`text names ${words.length} keys: at most ${LIMIT} in one action`);
  return words.map(chordOf);
}
