// A session that has moved to the primary for a late read, and goes back: the way back is no late read.
import { expect, test } from 'vitest';
import { ReadCounts } from '../../../../src/proxy/reads/read-counts.ts';
import { ReadGate, type ReadGateOptions } from '../../../../src/proxy/reads/read-gate.ts';
import type { Conversation } from '../../../../src/proxy/relay/conversation.ts';
import { NO_RESULTS } from '../../../../src/reports/causal-reads.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';

const primary = { member: 'pg-1', address: { host: '10.0.0.1', port: 5432 } };
const replica = { member: 'pg-2', address: { host: '10.0.0.2', port: 5432 } };

test('the way back counts nowhere', async () => {
  const clock = new ManualClock();
  const counts = new ReadCounts({ clock, late: { note: () => {} } });
  const moves: string[] = [];
  const goal = { next: () => undefined };
  let isFree = false;
  const options = {
    session: {
      pool: 'read',
      assignment: () => ({ isFallback: true }),
      movable: { request: (cause: string) => void moves.push(cause) },
    },
    train: {
      isFree: () => isFree,
      add: () => {},
      remove: () => {},
      wait: () => ({ why: 'unasked', primary: undefined, unanswered: new Map() }),
      coversOf: () => () => true,
    },
    clock,
    newestQuestion: () => 0,
    policy: () => ({ waitMs: 500, late: 'primary' }),
    counts,
    detours: { goal: () => goal, hasOwnMembers: () => true },
    keepsDetour: () => false,
  };
  const follower = { mayGoOn: () => true, isAtBoundaryToClient: () => true };
  const conversation = { follower: () => follower, activity: () => 'idle' };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the gate calls no more of its session and train
  const gate = new ReadGate(options as unknown as ReadGateOptions);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the gate asks no more of it
  gate.reads(conversation as unknown as Conversation);
  gate.startsAt(replica, () => undefined);
  gate.holds();
  await clock.advance(500);
  gate.leaves();
  gate.startsAt(primary, () => undefined);
  isFree = true;
  await clock.advance(10_000);
  gate.holds();
  gate.leaves();
  expect(moves).toEqual(['lagging', 'fallback_over']);
  expect(counts.counts()).toMatchObject({ results: { ...NO_RESULTS, moved: 1 }, waitedMs: 500, waiting: 0 });
});
