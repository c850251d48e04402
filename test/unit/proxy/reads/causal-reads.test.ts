// The gates of one proxy share a train. A reload may change the settings of their pool, or take them away.
import { expect, test } from 'vitest';
import type { PoolPolicy } from '../../../../src/model/policy.ts';
import { CausalReads, type CausalReadsOptions } from '../../../../src/proxy/reads/causal-reads.ts';
import type { Conversation } from '../../../../src/proxy/relay/conversation.ts';
import type { SessionControl } from '../../../../src/proxy/stage.ts';
import type { ReadEvent } from '../../../../src/reports/read-events.ts';
import { FakePositions } from '../../../support/fakes/fake-positions.ts';
import { aList, aPool, aSnapshot, aPolicy, isReplica } from '../../../support/values/builders.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';

const REPLICA = { member: 'pg-2', address: { host: 'pg-2', port: 5432 } };
const HOLD_MS = 2_000;

/** A read of a session at the replica while no primary is proven. */
function aRead(late: 'primary' | 'error') {
  const clock = new ManualClock();
  const pool = aPool({ causalReads: { scope: 'cluster', waitMs: 500, late } });
  const events: ReadEvent[] = [];
  let known: PoolPolicy | undefined = pool;
  const options = {
    clock,
    onEvent: (event: ReadEvent) => void events.push(event),
    snapshot: () => aSnapshot(aPolicy(), aList(0, 'pg-1', 'pg-2'), isReplica('pg-2', 0)),
    table: () => ({ pools: new Map() }),
    registry: {},
    positions: new FakePositions(),
    policy: () => ({ hold: { clientTimeoutMs: HOLD_MS }, pools: [pool], questions: undefined, probe: undefined }),
    pool: () => known,
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it reads no more of its proxy
  const reads = new CausalReads(options as unknown as CausalReadsOptions);
  const session = { pool: pool.name, closing: undefined, movable: undefined };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a gate asks no more of its session
  const gate = reads.gateFor(session as unknown as SessionControl, pool);
  if (gate === undefined) throw new Error('the pool has causal reads');
  const follower = { mayGoOn: () => true, isAtBoundaryToClient: () => true };
  const conversation = { follower: () => follower, activity: () => 'idle' };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the gate asks no more of it
  gate.reads(conversation as unknown as Conversation);
  gate.startsAt(REPLICA, () => undefined);
  gate.holds();
  const removePool = (): void => {
    known = undefined;
  };
  return { clock, reads, gate, events, removePool, waiting: () => reads.counts(pool.name)?.waiting };
}

test('G26: late: primary waits for a primary as long as a held client', async () => {
  const { clock, waiting } = aRead('primary');
  await clock.advance(HOLD_MS - 1);
  expect(waiting()).toBe(1);
  await clock.advance(1);
  expect(waiting()).toBe(0);
});

test('with late: error it waits no longer than its own limit', async () => {
  const { clock, waiting } = aRead('error');
  await clock.advance(499);
  expect(waiting()).toBe(1);
  await clock.advance(1);
  expect(waiting()).toBe(0);
});

test('a pool that a reload has removed guarantees nothing any more', () => {
  const { gate, removePool } = aRead('error');
  expect(gate.takesPass()).toBe(false);
  removePool();
  expect(gate.takesPass()).toBe(true);
});

test('a pool without causal reads, or a proxy that cannot ask, gates nobody', () => {
  const { reads } = aRead('error');
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- nothing of it is read
  const session = {} as SessionControl;
  expect(reads.gateFor(session, aPool())).toBeUndefined();
  expect(reads.counts('another pool')).toBeUndefined();
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- nothing else of it is read
  const mute = new CausalReads({ positions: undefined, snapshot: undefined } as unknown as CausalReadsOptions);
  expect(
    mute.gateFor(session, aPool({ causalReads: { scope: 'cluster', waitMs: 500, late: 'error' } })),
  ).toBeUndefined();
  mute.tableChanged();
  mute.stop();
});

test('behind the stop nothing waits for a timer of the train', async () => {
  const { clock, reads, gate } = aRead('error');
  gate.cancelled();
  reads.stop();
  await clock.advance(0);
  expect(clock.pending()).toBe(0);
});
