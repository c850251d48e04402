// The faults of a run, in an order and with lengths that follow from its seed.
import type { Random } from '../../../support/branches/quirks.ts';

export const FAULT_KINDS = [
  'switchover by Patroni',
  'switchover by Pointsman',
  'restart of the primary',
  'kill of the primary host',
  'kill of a primary ahead of its replicas',
  'kill of a replica host',
  'kill of PostgreSQL',
  'kill of Patroni',
  'freeze of Patroni',
  'freeze of PostgreSQL',
  'freeze of the primary host',
  'primary cut off from all',
  'primary cut off from the cluster',
  'primary cut off from the store',
  'primary cut off from the replicas',
  'primary cut off from Pointsman',
  'replica cut off from Pointsman',
  'outage of the store',
  'pause of Patroni',
  'crash during a pause',
  'replica that lags',
] as const;

/** Faults of Pointsman itself, on demand: with more kinds the same seed makes other faults. */
export const OWN_KINDS = [
  'kill of Pointsman',
  'replacement of Pointsman',
  'freeze of Pointsman',
  'freeze of Pointsman through a failover',
] as const;

export type FaultKind = (typeof FAULT_KINDS | typeof OWN_KINDS)[number];

export interface PlannedFault {
  readonly kind: FaultKind;
  readonly lastsMs: number;
  /** Before it begins, with every client at work. */
  readonly afterMs: number;
  /** Not before the cluster is healthy again. */
  readonly isPatient: boolean;
  /** Which of the replicas, for a fault of one. */
  readonly replica: number;
}

/** Shorter than any time limit; up to `silence_grace`; longer than Patroni's ttl. Seconds. */
const LENGTHS = [
  [1, 5],
  [8, 15],
  [22, 32],
] as const;

/** None of these waits for the ttl. */
const BRIEF_KINDS: readonly FaultKind[] = [
  'switchover by Pointsman',
  'kill of PostgreSQL',
  'freeze of Patroni',
  'primary cut off from all',
  'kill of a replica host',
  'outage of the store',
  'pause of Patroni',
  'switchover by Patroni',
];
const BRIEF_MS = 1500;

/** Without end. Every one of these kinds comes once before one comes twice. */
export function* planOf(random: Random, kinds: readonly FaultKind[] = FAULT_KINDS): Generator<PlannedFault> {
  for (;;) {
    for (const kind of shuffled(kinds, random)) {
      const [least, most] = LENGTHS[Math.floor(random() * LENGTHS.length)] ?? LENGTHS[0];
      yield {
        kind,
        lastsMs: Math.round((least + random() * (most - least)) * 1000),
        afterMs: Math.round(500 + random() * 4500),
        isPatient: random() < 0.75,
        replica: Math.floor(random() * 2),
      };
    }
  }
}

/** One of each kind that is over soon. */
export function briefPlan(random: Random): readonly PlannedFault[] {
  return BRIEF_KINDS.map((kind) => ({
    kind,
    lastsMs: BRIEF_MS,
    afterMs: 300,
    isPatient: true,
    replica: Math.floor(random() * 2),
  }));
}

function shuffled<T>(all: readonly T[], random: Random): readonly T[] {
  return all
    .map((one) => ({ one, at: random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ one }) => one);
}
