// The keys of the sandbox's terminal: one key, one action.
import type { VerbName } from './verb-list.ts';

export type KeyAction =
  | { readonly kind: 'verb'; readonly verb: VerbName; readonly target?: 'primary' | 'replica' }
  | { readonly kind: 'write' | 'read' | 'traffic' | 'config' | 'help' | 'end' };

interface Key {
  readonly key: string;
  readonly action: KeyAction;
  readonly text: string;
}

const KEYS: readonly Key[] = [
  { key: 'w', action: { kind: 'write' }, text: 'write a row' },
  { key: 'r', action: { kind: 'read' }, text: 'read' },
  { key: 't', action: { kind: 'traffic' }, text: 'steady traffic on or off' },
  { key: 'k', action: { kind: 'verb', verb: 'kill', target: 'primary' }, text: 'kill the primary' },
  { key: 'x', action: { kind: 'verb', verb: 'kill', target: 'replica' }, text: 'kill a replica' },
  { key: 'c', action: { kind: 'verb', verb: 'crash', target: 'primary' }, text: "crash the primary's PostgreSQL" },
  { key: 'f', action: { kind: 'verb', verb: 'freeze', target: 'primary' }, text: "freeze the primary's manager" },
  { key: 'l', action: { kind: 'verb', verb: 'lag', target: 'replica' }, text: 'make a replica lag' },
  { key: 'n', action: { kind: 'verb', verb: 'partition', target: 'primary' }, text: 'cut the primary off (network)' },
  { key: 'd', action: { kind: 'verb', verb: 'slow', target: 'replica' }, text: 'delay a replica' },
  { key: 's', action: { kind: 'verb', verb: 'switchover' }, text: 'switch over' },
  { key: 'h', action: { kind: 'verb', verb: 'heal' }, text: 'heal all' },
  { key: 'p', action: { kind: 'config' }, text: 'print a configuration' },
  { key: '?', action: { kind: 'help' }, text: 'these keys' },
  { key: 'q', action: { kind: 'end' }, text: 'end' },
];

const WIDTH = 100;

/** In raw mode a terminal sends Ctrl-C and Ctrl-D as these characters, not as a signal or an end of input. */
const ENDS: readonly string[] = ['\u0003', '\u0004'];

/** Undefined: the key has no meaning. */
export function actionOf(key: string): KeyAction | undefined {
  if (ENDS.includes(key)) return { kind: 'end' };
  return KEYS.find((known) => known.key === key)?.action;
}

/** Lines that fit a terminal's width. */
export function keysText(): string {
  const lines = ['Keys: '];
  for (const { key, text } of KEYS) {
    const part = `${key} ${text}`;
    const line = lines.at(-1) ?? '';
    if (line.length + part.length > WIDTH) lines.push(`      ${part} · `);
    else lines[lines.length - 1] = `${line}${part} · `;
  }
  return lines.map((line) => line.replace(/ · $/, '')).join('\n');
}
