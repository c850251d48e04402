// A made-up history for the tests of the laws: the parts of a scene that the laws look at.
import { planOf, type FaultKind, type Plan } from '../scene/plan.ts';
import type { Scene } from '../scene/scene.ts';
import { Wiretap } from '../world/wiretap.ts';
import type { Law } from './law.ts';

export interface MadeHistory {
  readonly faults?: readonly FaultKind[];
  readonly shape?: Partial<Plan['shape']>;
  readonly events?: readonly object[];
  readonly pointsmen?: readonly object[];
  readonly answers?: readonly object[];
  readonly openings?: readonly object[];
  readonly strays?: readonly object[];
  readonly lastRoutes?: readonly object[];
  readonly sessions?: readonly object[];
  readonly waits?: readonly object[];
  readonly wiretap?: Wiretap;
  /** By the client w1. */
  readonly takenOut?: readonly { readonly number: number; readonly isVoid: boolean }[];
}

/** The sentences of the law about it. */
export function broken({ broken: judge }: Law, history: MadeHistory): readonly string[] {
  const {
    faults = [],
    answers = [],
    openings = [],
    strays = [],
    lastRoutes = [],
    wiretap = new Wiretap(() => 0),
  } = history;
  const { sessions = [], waits = [], takenOut = [], events = [], pointsmen = [{ isKilled: false }] } = history;
  const plan = planOf(1);
  const fault = { atMs: 2_000, forMs: 1_000, member: 0, variant: 0 };
  const place = { isInRecovery: false, timeline: 2, position: 9_000 };
  const scene = {
    plan: {
      ...plan,
      shape: {
        ...plan.shape,
        workers: 1,
        isSynchronous: false,
        moves: 'off',
        holdMs: 6_000,
        degradedReads: 'usual',
        ...history.shape,
      },
      faults: faults.map((kind) => ({ ...fault, kind })),
    },
    world: { now: () => 60_000 },
    events: events.map((event) => ({ run: 0, ...event })),
    pointsmen,
    sites: [{ wiretap, host: { connectionCount: () => 0, timerCount: () => 0, requestTimers: () => 0 } }],
    clients: [{ account: { name: 'w1', sessions, waits, takenOut, mischief: [] } }],
    cluster: {
      members: [{ name: 'pg1' }, { name: 'pg2' }],
      primary: () => ({ name: 'pg1', server: { timeline: () => 2 } }),
      isBelowGivenUpTimeline: () => false,
      ledger: {
        promotions: [],
        writes: () => [
          { server: 'pg1', change: { client: 'w1', number: 3 } },
          { server: 'pg1', change: { client: 'w1', number: 5 }, record: {} },
        ],
      },
      systemIdentifier: '7',
    },
    observer: {
      answers,
      openings,
      strays,
      lastRoutes,
      samples: [{ at: 0, primary: { name: 'pg1', ...place } }],
      served: new Set(['pg1', 'pg2']),
    },
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the rest of a scene is not looked at
  return judge(scene as unknown as Scene);
}
