// What can be broken on purpose, and mended: one list for the keys, the second command and its help. Pure.

export interface Verb {
  readonly name: string;
  /** What it acts on when nothing is named; undefined: it needs no target. */
  readonly target: 'primary' | 'replica' | undefined;
  /** One clause for the help. */
  readonly summary: string;
}

export const VERBS = [
  { name: 'kill', target: 'primary', summary: "the member's host dies: its manager and its PostgreSQL are gone" },
  { name: 'crash', target: 'primary', summary: 'only its PostgreSQL dies; its manager starts it again' },
  { name: 'freeze', target: 'primary', summary: 'its manager never answers again; its PostgreSQL goes on' },
  { name: 'lag', target: 'replica', summary: 'it receives WAL but replays none, and 32 MB are written' },
  {
    name: 'switchover',
    target: undefined,
    summary: 'a planned change of primary, to MEMBER or to the one furthest ahead',
  },
  { name: 'heal', target: undefined, summary: 'undoes every fault of MEMBER, or of all' },
] as const satisfies readonly Verb[];

export type VerbName = (typeof VERBS)[number]['name'];

export function isVerbName(name: string): name is VerbName {
  return VERBS.some((verb) => verb.name === name);
}
