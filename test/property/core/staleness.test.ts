// A whole cluster as its probes see it: the WAL of a primary, replicas that replay it, and answers that are late. Which
// replica may be called stale, and by when it has to be, is known here from the WAL itself.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { decideRoutes } from '../../../src/core/decide-routes.ts';
import { observe } from '../../../src/core/observe.ts';
import { emptySnapshot } from '../../../src/core/snapshot.ts';
import type { Instant } from '../../../src/model/instant.ts';
import type { Observation } from '../../../src/model/observation.ts';
import { rounds } from '../../support/runner/ci.ts';
import {
  aList,
  aPolicy,
  aPool,
  aWritePool,
  isPrimary,
  isReplica,
  openIn,
  silent,
} from '../../support/values/builders.ts';

const PAGE = 8192;
const INTERVAL_MS = 1000;
const LIMIT_MS = 5000;
const REPLICA = 'pg-2';
const HEALTHY = 'pg-3';
const CHECK = '/replica';
const policy = aPolicy({ pools: [aWritePool(), aPool({ check: CHECK, maxStalenessMs: LIMIT_MS })] });

/** The flushed records of the primary by instant, or the end of a page that its WAL writer flushed. */
class Wal {
  readonly #records: { readonly at: Instant; readonly end: number }[] = [{ at: -1, end: 8 * PAGE + 40 }];
  #openPage: number | undefined;

  get end(): number {
    return this.#records.at(-1)?.end ?? 0;
  }

  /** As the API of the primary reports it. */
  get flushed(): number {
    return this.#openPage ?? this.end;
  }

  /** No record ends with its page: such a commit tells nothing until the next one. */
  commit(at: Instant, bytes: number): void {
    this.#openPage = undefined;
    const end = this.end + bytes;
    this.#records.push({ at, end: end % PAGE === 0 ? end + 8 : end });
  }

  /** A transaction is open, or the segment was switched: a whole number of pages is flushed, behind every record. */
  flushPage(): void {
    this.#openPage = (Math.floor(this.end / PAGE) + 1) * PAGE;
  }

  /** The position of a replica that shows everything from before that instant. */
  endAt(instant: Instant): number {
    return this.#records.findLast(({ at }) => at <= instant)?.end ?? 0;
  }

  /** The first commit behind that position. */
  firstBehind(position: number): Instant {
    return this.#records.find(({ end }) => end > position)?.at ?? Infinity;
  }
}

/** The standing of the replicas, told observation by observation. */
class Watcher {
  #snapshot = emptySnapshot('lab');
  readonly left: Instant[] = [];
  readonly returned: Instant[] = [];
  #isOpen = true;

  constructor() {
    this.take(0, aList(0, 'pg-1', REPLICA, HEALTHY));
  }

  take(now: Instant, observation: Observation): void {
    this.#snapshot = observe(policy, this.#snapshot, observation);
    if (!this.#snapshot.complete) return;
    const isOpen = openIn(decideRoutes(policy, this.#snapshot, now), 'read').includes(REPLICA);
    if (isOpen !== this.#isOpen) (isOpen ? this.returned : this.left).push(now);
    this.#isOpen = isOpen;
  }
}

/** A probe of each member about once in an interval; `say` has its answer. */
function probing(
  endMs: number,
  intervalMs: number,
  chance: () => number,
  say: (member: string, at: Instant) => Observation,
): Watcher {
  const watcher = new Watcher();
  const next = new Map(['pg-1', REPLICA, HEALTHY].map((member, i) => [member, i * 130] as const));
  for (;;) {
    const [member, at] = [...next].reduce((a, b) => (b[1] < a[1] ? b : a));
    if (at >= endMs) return watcher;
    watcher.take(at, say(member, at));
    next.set(member, at + intervalMs * (0.9 + 0.2 * chance()));
  }
}

/** A primary that commits about every `usualMs`, and a replica that has replayed `shown`. */
function writing(
  endMs: number,
  chance: () => number,
  wal: Wal,
  usualMs: number,
  shown: (at: Instant) => number,
): Watcher {
  let commitAt = 0;
  return probing(endMs, INTERVAL_MS, chance, (member, at) => {
    for (; commitAt <= at; commitAt += usualMs * (0.5 + chance()))
      wal.commit(commitAt, 104 + Math.floor(chance() * 300) * 8);
    if (member === 'pg-1') return isPrimary(member, at, { location: wal.end });
    return isReplica(member, at, { replayed: member === REPLICA ? shown(at) : wal.end }, CHECK);
  });
}

function random(seed: number): () => number {
  let state = seed % 2_147_483_647 || 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

test('G5: in quiet hours checkpoints, open transactions and lost answers make no replica stale', () => {
  const wal = new Wal();
  const chance = random(7);
  let openUntil = 0;
  const watcher = probing(rounds(4, 24) * 3_600_000, 2 * INTERVAL_MS, chance, (member, at) => {
    if (chance() < 0.01) return silent({ member, at, postgres: 'accepts' });
    if (member !== 'pg-1') return isReplica(member, at, { replayed: wal.end }, CHECK);
    const what = chance();
    if (what < 1 / 300) wal.commit(at, 104);
    if (what > 1 - 1 / 300) wal.flushPage();
    if (at > openUntil && chance() < 1 / 600) openUntil = at + 20_000;
    if (at < openUntil) wal.flushPage();
    return isPrimary(member, at, { location: wal.flushed });
  });
  expect(watcher.left).toEqual([]);
});

test.each<[string, readonly number[], (cutAt: Instant) => (at: Instant) => Instant]>([
  ['its receiver is cut', [200, 900, 3000, 15_000], (cutAt) => (at) => Math.min(at, cutAt)],
  [
    'its replay is late by twice the limit from then on',
    [200, 900],
    (cutAt) => (at) => Math.max(Math.min(at, cutAt), at - 2 * LIMIT_MS),
  ],
])(
  'G5: a replica leaves within the limit and two intervals after a commit that it misses, and stays away: %s',
  (_, everyMs, shows) => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1 }),
        fc.integer({ min: 5000, max: 20_000 }),
        fc.constantFrom(...everyMs),
        (seed, cutAt, usualMs) => {
          const [chance, wal] = [random(seed), new Wal()];
          const shown = shows(cutAt);
          const watcher = writing(90_000, chance, wal, usualMs, (at) => wal.endAt(shown(at)));
          const missedAt = wal.firstBehind(wal.endAt(cutAt));
          const [leftAt = Infinity, ...more] = watcher.left;
          expect(leftAt).toBeGreaterThan(missedAt + LIMIT_MS);
          // Intervals have a jitter of 10 %.
          expect(leftAt).toBeLessThanOrEqual(missedAt + LIMIT_MS + 2 * 1.1 * INTERVAL_MS);
          expect([more, watcher.returned]).toEqual([[], []]);
        },
      ),
      { numRuns: rounds(10, 60) },
    );
  },
);

test('a replica that shows everything within the limit less two intervals never leaves', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1 }), fc.integer({ min: 0, max: LIMIT_MS - 2 * INTERVAL_MS }), (seed, lateMs) => {
      const [chance, wal] = [random(seed), new Wal()];
      const watcher = writing(60_000, chance, wal, 200, (at) => wal.endAt(at - lateMs * chance()));
      expect(watcher.left).toEqual([]);
    }),
    { numRuns: rounds(10, 60) },
  );
});
