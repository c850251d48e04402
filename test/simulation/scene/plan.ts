// The plan of one history: how the world is built, and which faults happen when. It follows from a seed, and it is
// plain data, so that a shorter plan can be tried.
import { seededRandom, type Random } from '../world/random.ts';

export interface Plan {
  readonly seed: number;
  readonly shape: Shape;
  readonly faults: readonly PlannedFault[];
  /** The faults are over then. Milliseconds. */
  readonly faultsMs: number;
  /** A time without faults follows. Milliseconds. */
  readonly quietMs: number;
}

export interface Shape {
  readonly members: number;
  readonly moves: 'off' | 'planned' | 'always';
  /** `moves.on_stays`. With `abort` some transactions take long, and read sessions move as well. */
  readonly onStays: 'drain' | 'abort';
  readonly isSynchronous: boolean;
  /** Each on a host of its own. */
  readonly pointsmen: number;
  readonly workers: number;
  readonly vouching: boolean;
  readonly writers: number;
  readonly readers: number;
  /** Where reads go without a good replica: `pools.read`. */
  readonly degradedReads: 'usual' | 'none' | 'few' | 'least lagging';
  /** `hold.client_timeout`. Pointsman refuses a switchover that may take longer. Milliseconds. */
  readonly holdMs: number;
  /** The first member's file has other settings than those of the others. */
  readonly filesDiffer: boolean;
  /** The timeline of the first primary. */
  readonly timeline: number;
  /** Reads need a tag of the member. */
  readonly readsByTag: boolean;
  /** The process of Pointsman is busy: its timers are late. */
  readonly isBusy: boolean;
}

/** Each kind is in the table of faults.ts. */
export interface PlannedFault {
  readonly kind: FaultKind;
  readonly atMs: number;
  readonly forMs: number;
  /** The member that it hits. Undefined: the primary of that moment. */
  readonly member: number | undefined;
  /** For all that is chance in it. */
  readonly variant: number;
}

export const FAULT_KINDS = [
  'host crashes',
  'postgres is killed',
  'both are killed',
  'postgres freezes',
  'manager is killed',
  'manager freezes',
  'host freezes',
  'member is cut off',
  'member hears nothing',
  'member is not heard',
  'member loses the store',
  'pointsman loses a member',
  'store is down',
  'lock is lost',
  'switchover by the API',
  'switchover by pointsman',
  'restart by the API',
  'cluster pauses',
  'api is late',
  'api is silent',
  'api is silent for long',
  'api is garbage',
  'member claims to lead',
  'another cluster has its address',
  'primary dies ahead of its replicas',
  'an old primary returns, and the new one is silent',
  'promotions are slow',
  'replay is slow',
  'wall clock steps',
  'clock drifts',
  'replay pauses',
  'client vanishes',
  'pointsman freezes',
  'pointsman stalls at the end of a grace',
  'pointsman is killed',
  'pointsman hands over',
  'paused primary loses its lock',
  'switchovers by two pointsmen',
  'primary freezes in a switchover',
  'pointsman loses all members',
  'pointsmen hear different members',
  'api is silent to a pointsman',
  'pointsman reloads',
  'restart by pointsman',
  'tags change',
  'client half-closes',
  'client resets',
  'client cancels whatever it does',
  'connection is torn in an answer',
  'member leaves',
  'member has a new address',
  'connections run out',
  'primary freezes while one pointsman switches over and another one restarts it',
] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

const OF_TWO_POINTSMEN: readonly FaultKind[] = [
  'switchovers by two pointsmen',
  'switchover by pointsman',
  'primary freezes in a switchover',
  'primary freezes in a switchover',
  'pointsman loses all members',
  'pointsmen hear different members',
  'api is silent to a pointsman',
];

/** Most change little by themselves: they come in addition. */
const SMALL: readonly FaultKind[] = [
  'pointsman reloads',
  'pointsman reloads',
  'restart by pointsman',
  'tags change',
  'client half-closes',
  'client half-closes',
  'client resets',
  'client cancels whatever it does',
  'client cancels whatever it does',
  'connection is torn in an answer',
  'member leaves',
  'member has a new address',
  'connections run out',
];

const SWITCHOVER: FaultKind = 'switchover by pointsman';
/** Changes of a member that is well: they come in addition where transactions are rolled back for that. */
const PLANNED: readonly FaultKind[] = [SWITCHOVER, 'restart by pointsman', 'tags change'];

/** It comes in addition: few other faults leave a session that long. */
const STALL: FaultKind = 'pointsman stalls at the end of a grace';

/** How long that fault stops a Pointsman. Milliseconds. */
export const STALL_MS = 2_000;

/** How long Pointsman stands still in all. Milliseconds. */
export function stoppedMs({ faults }: Plan): number {
  const stops = faults.map(({ kind, forMs }) => (kind === STALL ? STALL_MS : kind === 'pointsman freezes' ? forMs : 0));
  return stops.reduce((sum, ms) => sum + ms, 0);
}

/** Comes in addition where two Pointsmen have long transactions. */
const RIVALS: FaultKind = 'primary freezes while one pointsman switches over and another one restarts it';

/** The more likely, the more often in the list. */
const LIKELY: readonly FaultKind[] = [
  ...FAULT_KINDS.filter((kind) => ![STALL, RIVALS, ...SMALL, ...OF_TWO_POINTSMEN].includes(kind)),
  'switchover by pointsman',
  'primary freezes in a switchover',
  'paused primary loses its lock',
  'switchover by the API',
  'switchover by the API',
  'switchover by pointsman',
  'switchover by pointsman',
  'host crashes',
  'postgres is killed',
  'api is silent',
  'api is silent',
  'manager freezes',
  'manager freezes',
  'api is late',
  'store is down',
  'api is silent',
  'api is silent',
  'switchover by pointsman',
  'switchover by pointsman',
  'switchover by pointsman',
  'primary dies ahead of its replicas',
  'primary dies ahead of its replicas',
  'primary dies ahead of its replicas',
  'api is silent for long',
  'api is silent for long',
  'api is silent for long',
  'api is silent for long',
  'api is silent for long',
  'api is silent for long',
  'primary dies ahead of its replicas',
  'an old primary returns, and the new one is silent',
];

/** They hit the primary early, and last beyond the grace of its sessions, and beyond its lock. */
const LONG: readonly FaultKind[] = [
  'api is silent for long',
  'primary dies ahead of its replicas',
  'primary freezes in a switchover',
  RIVALS,
  STALL,
];

/** They wait for their moment. */
const WAITING: readonly FaultKind[] = [
  'client half-closes',
  'client resets',
  'client cancels whatever it does',
  'connection is torn in an answer',
];

export function planOf(seed: number): Plan {
  const random = seededRandom(seed).fork('plan');
  const faultsMs = random.between(13_000, 22_000);
  const count = 1 + random.int(4);
  const more = random.fork('more');
  const stall = random.fork('stall');
  const stays = random.fork('on_stays');
  const pointsmen = more.chance(0.33) ? 2 : 1;
  const kinds = [
    ...Array.from({ length: count }, () => random.pick(LIKELY)),
    ...Array.from({ length: more.int(3) }, () => more.pick(SMALL)),
    ...(pointsmen === 2 && more.chance(0.7) ? [more.pick(OF_TWO_POINTSMEN)] : []),
  ];
  const members = random.pick([2, 3, 3, 3]);
  const moves = random.pick<Shape['moves']>(['off', 'planned', 'planned', 'always', 'always', 'always']);
  const onStays = moves !== 'off' && stays.chance(0.25) ? 'abort' : 'drain';
  const planned = pointsmen === 2 && stays.chance(0.5) ? [RIVALS] : [SWITCHOVER, stays.pick(PLANNED)];
  return {
    seed,
    shape: {
      members,
      moves,
      onStays,
      isSynchronous: random.chance(0.3),
      pointsmen,
      workers: random.chance(0.15) ? 2 : 1,
      vouching: random.chance(0.2),
      writers: 2 + random.int(4),
      readers: random.int(4),
      degradedReads: random.pick(['usual', 'none', 'few', 'least lagging']),
      holdMs: random.pick([6_000, 20_000, 20_000, 20_000, 20_000]),
      filesDiffer: random.chance(0.3),
      timeline: random.pick([1, 3]),
      readsByTag: more.chance(0.2),
      isBusy: random.chance(0.7),
    },
    faults: [
      ...kinds.map((kind) => faultOf(random, kind, faultsMs)),
      ...(stall.chance(0.3) ? [faultOf(stall, STALL, faultsMs)] : []),
      ...(onStays === 'abort' ? planned : []).map((kind) => faultOf(stays, kind, faultsMs)),
    ].toSorted((a, b) => a.atMs - b.atMs),
    faultsMs,
    quietMs: 17_000,
  };
}

function faultOf(random: Random, kind: FaultKind, untilMs: number): PlannedFault {
  const atMs = random.between(1_500, untilMs - 1_000);
  if (LONG.includes(kind)) {
    return { kind, atMs: Math.min(atMs, 4_000), forMs: 20_000, member: undefined, variant: random.int(1_000_000) };
  }
  if (WAITING.includes(kind))
    return { kind, atMs: atMs / 3, forMs: 20_000, member: undefined, variant: random.int(1e6) };
  return {
    kind,
    atMs,
    forMs: random.pick([200, 1_000, 3_000, 8_000, 12_000]) * random.between(0.5, 1.5),
    member: random.chance(0.6) ? undefined : random.int(3),
    variant: random.int(1_000_000),
  };
}
