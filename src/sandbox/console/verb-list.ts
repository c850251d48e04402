// The verbs that break and heal the cluster: one list for the keys, the command line and the help. Pure.

export interface Verb {
  readonly name: string;
  /** The default target. Undefined: the verb needs no target. */
  readonly target: 'primary' | 'replica' | undefined;
  /** True: it takes no member. */
  readonly alone?: boolean;
  /** One clause for the help. */
  readonly summary: string;
}

/** `unknown`: no such member; `refused`: not possible now; `failed`: tried without success. `text` is one line. */
export interface VerbOutcome {
  readonly kind: 'done' | 'unknown' | 'refused' | 'failed';
  readonly text: string;
}

export const VERBS = [
  { name: 'kill', target: 'primary', summary: "the member's host dies with its manager and PostgreSQL" },
  { name: 'crash', target: 'primary', summary: 'PostgreSQL crashes; its manager starts it again' },
  { name: 'freeze', target: 'primary', summary: 'the manager stops answering; PostgreSQL goes on' },
  { name: 'lag', target: 'replica', summary: 'receives WAL without replaying it, while 32 MB are written' },
  {
    name: 'partition',
    target: 'primary',
    summary: 'cut off from the other members and their store; Pointsman and clients reach it',
  },
  { name: 'slow', target: 'replica', summary: 'its API answers, and the replica applies WAL, 500 ms later' },
  {
    name: 'switchover',
    target: undefined,
    summary: 'a planned change of primary, to MEMBER or to the most advanced replica',
  },
  { name: 'heal', target: undefined, summary: 'undo every fault of MEMBER, or of all members' },
] as const satisfies readonly Verb[];

/** Commands to a running sandbox that change no member. */
export const TRAFFIC: Verb = {
  name: 'traffic',
  target: undefined,
  alone: true,
  summary: 'start or stop 20 writes a second, through Pointsman and beside it as libpq with several hosts writes',
};

export type VerbName = (typeof VERBS)[number]['name'];

export function isVerbName(name: string): name is VerbName {
  return VERBS.some((verb) => verb.name === name);
}
