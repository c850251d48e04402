// While a primary is replaced nothing shows all that was acknowledged. A read with `late: primary` waits as held
// clients do.
import { describe, expect, test } from 'vitest';
import type { NoYet } from '../../../../src/core/read-index.ts';
import type { LateMode } from '../../../../src/model/causal-reads.ts';
import { ReadCounts } from '../../../../src/proxy/reads/read-counts.ts';
import { ReadGate, type ReadGateOptions } from '../../../../src/proxy/reads/read-gate.ts';
import type { TrainRead } from '../../../../src/proxy/reads/read-train.ts';
import type { Conversation } from '../../../../src/proxy/relay/conversation.ts';
import type { Relay } from '../../../../src/proxy/relay/relay.ts';
import type { PinReason } from '../../../../src/model/moves.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';

const primary = { member: 'pg-1', address: { host: '10.0.0.1', port: 5432 } };
const replica = { member: 'pg-2', address: { host: '10.0.0.2', port: 5432 } };
const WAIT_MS = 500;
const HOLD_MS = 30_000;

/** A read that has just come. */
function aRead(late: LateMode, given: { why: NoYet; hasPrimary: boolean; stays?: PinReason }, server = replica) {
  const situation = { ...given };
  const clock = new ManualClock();
  const counts = new ReadCounts({ clock, late: { note: () => {} } });
  const moves: string[] = [];
  const refusals: Uint8Array[] = [];
  const reads: TrainRead[] = [];
  const options = {
    session: {
      pool: 'read',
      closing: undefined,
      step: (run: () => void) => run(),
      movable: {
        request(cause: string, onProgress: (progress: unknown) => void) {
          moves.push(cause);
          if (situation.stays !== undefined) onProgress({ kind: 'stayed', reason: situation.stays });
        },
      },
    },
    train: {
      isFree: () => false,
      add: (read: TrainRead) => void reads.push(read),
      remove: () => {},
      wait: () => ({ why: situation.why, primary: 'pg-1', unanswered: new Map() }),
      coversOf: () => () => true,
    },
    clock,
    newestQuestion: () => 0,
    policy: () => ({ waitMs: WAIT_MS, late }),
    holdMs: () => HOLD_MS,
    counts,
    detours: { goal: () => ({ next: () => undefined }), hasPrimary: () => situation.hasPrimary },
    keepsDetour: () => false,
  };
  const follower = { mayGoOn: () => true, isAtBoundaryToClient: () => true };
  const conversation = { follower: () => follower, activity: () => 'idle', passToClient: () => {} };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the gate calls no more of its session and train
  const gate = new ReadGate(options as unknown as ReadGateOptions);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the gate asks no more of it
  gate.reads(conversation as unknown as Conversation);
  gate.startsAt(server, () => undefined);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the gate asks no more of it
  gate.relaysBy({ cancelWaiting: (error: Uint8Array) => refusals.push(error) === 1 } as unknown as Relay);
  gate.holds();
  return { clock, counts, moves, refusals, reads, situation };
}

test.each([
  ['no primary is proven', { why: 'primary_unproven', hasPrimary: false }],
  ['the replica does not follow the new primary yet', { why: 'timeline_unknown', hasPrimary: true }],
  ['the old primary does not answer, and takes no sessions', { why: 'unasked', hasPrimary: false }],
] as const)('G26: late: primary waits on while %s', async (_, situation) => {
  const { clock, counts, moves } = aRead('primary', { ...situation });
  await clock.advance(HOLD_MS - 1);
  expect(counts.counts().waiting).toBe(1);
  expect(moves).toEqual([]);
});

test('it moves when there is a primary that can take it', async () => {
  const { clock, moves, situation } = aRead('primary', { why: 'primary_unproven', hasPrimary: false });
  await clock.advance(4 * WAIT_MS);
  Object.assign(situation, { why: 'behind', hasPrimary: true });
  expect(moves).toEqual([]);
  await clock.advance(WAIT_MS);
  expect(moves).toEqual(['lagging']);
});

test('at the primary, too, which shows all as soon as it answers: no other server can be better', async () => {
  const { clock, counts, moves, reads } = aRead('primary', { why: 'unasked', hasPrimary: true }, primary);
  await clock.advance(HOLD_MS - 1);
  expect(moves).toEqual([]);
  reads.at(-1)?.onYes('waited');
  expect(counts.counts()).toMatchObject({ waiting: 0, results: { waited: 1 } });
});

test('it waits no longer than held clients do', async () => {
  const { clock, moves } = aRead('primary', { why: 'timeline_unknown', hasPrimary: true });
  await clock.advance(HOLD_MS);
  expect(moves).toEqual(['lagging']);
});

test.each(['error', 'stale'] as const)('late: %s waits no longer than ever', async (late) => {
  const { clock, counts } = aRead(late, { why: 'primary_unproven', hasPrimary: false });
  await clock.advance(WAIT_MS);
  expect(counts.counts().waiting).toBe(0);
});

describe('a session that cannot move', () => {
  const behind = { why: 'behind', hasPrimary: true } as const;

  test.each(['unknown_position', 'question_failed', 'busy'] as const)('%s: it asks again', async (stays) => {
    const { clock, counts, moves, refusals, reads, situation } = aRead('primary', { ...behind, stays });
    await clock.advance(WAIT_MS);
    expect(moves.length).toBe(1);
    await clock.advance(1_000);
    expect(moves.length).toBe(5);
    expect(new Set(reads).size).toBe(1);
    expect(counts.counts().waiting).toBe(1);
    expect(refusals).toEqual([]);
    Object.assign(situation, { stays: undefined });
    await clock.advance(HOLD_MS);
    expect(moves.length).toBe(6);
    expect(refusals).toEqual([]);
  });

  test('its read goes on when its server has caught up meanwhile', async () => {
    const { clock, counts, reads } = aRead('primary', { ...behind, stays: 'unknown_position' });
    await clock.advance(WAIT_MS);
    reads.at(-1)?.onYes('waited');
    await clock.advance(HOLD_MS);
    expect(counts.counts()).toMatchObject({ waiting: 0, results: { waited: 1 } });
  });

  test('it asks no longer than held clients wait', async () => {
    const { clock, counts, refusals } = aRead('primary', { ...behind, stays: 'unknown_position' });
    await clock.advance(HOLD_MS - 1);
    expect(refusals).toEqual([]);
    await clock.advance(1);
    expect(refusals.length).toBeGreaterThan(0);
    expect(counts.counts().waiting).toBe(0);
  });

  test('nothing will change that: its read is refused', async () => {
    const { clock, counts, moves, refusals } = aRead('primary', { ...behind, stays: 'listening' });
    await clock.advance(WAIT_MS);
    expect(moves.length).toBe(1);
    expect(refusals.length).toBeGreaterThan(0);
    expect(counts.counts().waiting).toBe(0);
  });
});
