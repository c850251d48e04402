import { describe, expect, it } from 'vitest';
import { emptySnapshot, newRecord } from '../../../src/core/snapshot.ts';
import type { Position, Snapshot } from '../../../src/core/snapshot.ts';
import { withSnapshot } from '../../../src/core/wal-samples.ts';
import type { WalSamples } from '../../../src/core/wal-samples.ts';
import { aMember } from '../../support/values/builders.ts';

function snapshotOf(position: Position, name = 'pg-1'): Snapshot {
  const record = { ...newRecord(aMember(name)), positions: [position] };
  return { ...emptySnapshot('lab'), members: new Map([[name, record]]) };
}

function position(at: number, startedAt: string | undefined = 'monday'): Position {
  return { at, kind: 'location', bytes: at, timeline: 1, startedAt };
}

function after(instants: readonly number[], startedAt = 'monday'): WalSamples {
  let samples: WalSamples = new Map();
  for (const at of instants) {
    samples = withSnapshot(samples, snapshotOf(position(at, startedAt)));
    if ((samples.get('pg-1')?.length ?? 0) > 500) throw new Error('too many samples');
  }
  return samples;
}

/** The instants that are left of these positions, newest first. */
function kept(...positions: readonly (readonly [at: number, timeline: number])[]): readonly number[] {
  let samples: WalSamples = new Map();
  for (const [at, timeline] of positions) samples = withSnapshot(samples, snapshotOf({ ...position(at), timeline }));
  return (samples.get('pg-1') ?? []).map(({ at }) => at);
}

describe('the samples of a primary', () => {
  it('are its positions, newest first', () => {
    const samples = after([1, 1_000]).get('pg-1');
    expect(samples).toEqual([
      { at: 1_000, bytes: 1_000, run: { timeline: 1, startedAt: 'monday' } },
      { at: 1, bytes: 1, run: { timeline: 1, startedAt: 'monday' } },
    ]);
  });

  it('stay the same object when a snapshot has nothing new', () => {
    const samples = after([1, 1_000]);
    expect(withSnapshot(samples, snapshotOf(position(1_000)))).toBe(samples);
  });

  it.each<[string, Position]>([
    ['of a replica', { at: 5, kind: 'replayed', bytes: 5 }],
    ['without a timeline', { at: 5, kind: 'location', bytes: 5, startedAt: 'monday' }],
    ['without the start of the server', { at: 5, kind: 'location', bytes: 5, timeline: 1 }],
  ])('are none from a position %s', (_, one) => {
    expect(withSnapshot(new Map(), snapshotOf(one)).size).toBe(0);
  });

  it('go back an hour, few of them, and the gap before each is at most a quarter of its age', () => {
    const now = 2 * 3_600_000;
    const samples = after(Array.from({ length: 7_201 }, (_, second) => second * 1_000)).get('pg-1') ?? [];
    expect(samples.length).toBeLessThan(100);
    expect(samples[0]?.at).toBe(now);
    expect(samples.at(-1)?.at).toBeGreaterThanOrEqual(now - 3_600_000);
    expect(samples.at(-1)?.at).toBeLessThan(now - 1_800_000);
    for (const [index, { at }] of samples.entries()) {
      const newer = samples[index - 1]?.at ?? at;
      expect(newer - at).toBeLessThanOrEqual(Math.max(1_000, (now - at) / 4));
    }
  });

  it('keep the last ones of a run that ended', () => {
    let samples = after([1_000, 2_000, 3_000]);
    for (let at = 4_000; at < 200_000; at += 1_000)
      samples = withSnapshot(samples, snapshotOf(position(at, 'tuesday')));
    const old = samples.get('pg-1')?.filter(({ run }) => run.startedAt === 'monday');
    expect(old?.map(({ at }) => at)).toContain(3_000);
  });

  it('are there for an hour to the millisecond', () => {
    expect(kept([0, 1], [3_600_000, 1])).toEqual([3_600_000, 0]);
    expect(kept([0, 1], [3_600_001, 1])).toEqual([3_600_001]);
  });

  it.each<[string, readonly (readonly [at: number, timeline: number])[], readonly number[]]>([
    [
      'its neighbours are close enough',
      [
        [0, 1],
        [10, 1],
        [25, 1],
        [100, 1],
      ],
      [100, 25, 0],
    ],
    [
      'they are too far from each other',
      [
        [0, 1],
        [10, 1],
        [26, 1],
        [100, 1],
      ],
      [100, 26, 10, 0],
    ],
    [
      'it is the last one of its timeline',
      [
        [0, 1],
        [10, 1],
        [25, 2],
        [100, 2],
      ],
      [100, 25, 10, 0],
    ],
    [
      'it is the first one of its timeline',
      [
        [0, 1],
        [10, 2],
        [25, 2],
        [100, 2],
      ],
      [100, 25, 10, 0],
    ],
  ])('are fewer, or not: %s', (_, positions, left) => {
    expect(kept(...positions)).toEqual(left);
  });

  it('are none from a member without a position', () => {
    const members = new Map([['pg-1', newRecord(aMember('pg-1'))]]);
    expect(withSnapshot(new Map(), { ...emptySnapshot('lab'), members }).size).toBe(0);
  });

  it('stay when another member goes', () => {
    const two = withSnapshot(after([1]), {
      ...emptySnapshot('lab'),
      members: new Map([...snapshotOf(position(1)).members, ...snapshotOf(position(2), 'pg-2').members]),
    });
    expect([...two.keys()]).toEqual(['pg-1', 'pg-2']);
    expect([...withSnapshot(two, snapshotOf(position(1))).keys()]).toEqual(['pg-1']);
  });

  it('go with their member', () => {
    expect(withSnapshot(after([1]), emptySnapshot('lab')).size).toBe(0);
    expect([...withSnapshot(after([1]), snapshotOf(position(2), 'pg-2')).keys()]).toEqual(['pg-2']);
  });
});
