// The primary, its changes, and their kind.
import { expect, test } from 'vitest';
import { withDrained, withResumed, type Snapshot } from '../../../src/core/snapshot.ts';
import type { ProbeObservation } from '../../../src/model/observation.ts';
import {
  aList,
  aPolicy,
  aPool,
  aSnapshot,
  aWritePool,
  answered,
  isPrimary,
  isReplica,
  refused,
  silent,
} from '../../support/values/builders.ts';
import type { ReportedEvent } from '../../../src/reports/events.ts';
import { DecidedHistory } from '../../support/values/decided-history.ts';

const policy = aPolicy();

/** A cluster of which the history hears after each answer. */
function aLab() {
  const decisions = new DecidedHistory(policy).decide(aSnapshot(policy, aList(0, 'pg-1', 'pg-2')), 0);
  const { history } = decisions;
  return {
    history,
    kinds: () => [history.primaryChanges().failover.count, history.primaryChanges().switchover.count],
    happened: (event: ReportedEvent): void => decisions.happened(event),
    hear: (...answers: readonly ProbeObservation[]): void => answers.forEach((answer) => void decisions.hear(answer)),
    change: (by: (snapshot: Snapshot) => Snapshot): void =>
      void decisions.decide(by(decisions.snapshot()), decisions.now()),
  };
}

const moment = (at: number): object => ({ at, wallClock: at });
const start = [isPrimary('pg-1', 1000), isReplica('pg-2', 1000)];
const next = (at: number) => isPrimary('pg-2', at, { timeline: 2 });
const stopping = (at: number) => answered({ at, status: 503, body: { role: 'replica', state: 'stopping' } });
const asReplica = (at: number) => answered({ at, status: 503, body: { role: 'replica', state: 'running' } });

test('the first primary is no change; a pause of its route neither', () => {
  const { history, hear, kinds } = aLab();
  expect(history.primary()).toBeUndefined();
  hear(...start);
  expect(history.primary()).toEqual({ member: 'pg-1', timeline: 1, since: moment(1000) });
  hear(answered({ at: 2000, body: { role: 'primary', state: 'starting', timeline: 1 } }));
  expect(history.primary()).toBeUndefined();
  hear(isPrimary('pg-1', 3000));
  expect(history.primary()).toEqual({ member: 'pg-1', timeline: 1, since: moment(1000) });
  expect(kinds()).toEqual([0, 0]);
});

test('a new timeline is a new reign of the same member, and no change', () => {
  const { history, hear, kinds } = aLab();
  hear(...start, isPrimary('pg-1', 4000, { timeline: 2 }));
  expect(history.primary()).toEqual({ member: 'pg-1', timeline: 2, since: moment(4000) });
  expect(kinds()).toEqual([0, 0]);
});

test.each<[string, readonly ProbeObservation[]]>([
  ['its ports refuse', [refused({ at: 2000 })]],
  ['it is back before the next primary is proven', [refused({ at: 2000 }), asReplica(3000)]],
  ['it is silent', [silent({ at: 2000 }), silent({ at: 3000 }), silent({ at: 8000 })]],
  ['its PostgreSQL crashed', [answered({ at: 2000, status: 503, body: { role: 'replica', state: 'crashed' } })]],
  ['it stops in order, and then does not answer', [stopping(2000), silent({ at: 2500 }), silent({ at: 8000 })]],
])('failover: %s', (_, loss) => {
  const { history, hear, kinds } = aLab();
  hear(...start, ...loss, next(9000));
  expect(kinds()).toEqual([1, 0]);
  expect(history.primaryChanges().failover.last).toEqual(moment(9000));
  expect(history.primary()).toEqual({ member: 'pg-2', timeline: 2, since: moment(9000) });
});

test.each<[string, readonly ProbeObservation[]]>([
  ['it stops and answers', [stopping(2000)]],
  ['it is a replica already', [stopping(2000), asReplica(2500)]],
  ['one probe gets no answer meanwhile', [stopping(2000), silent({ at: 2200 }), asReplica(2500)]],
  ['all happened between two probes, and it answers', [asReplica(2000)]],
  ['the next primary is probed first', []],
])('switchover: %s', (_, loss) => {
  const { history, hear, kinds } = aLab();
  hear(...start, ...loss, next(3000));
  expect(kinds()).toEqual([0, 1]);
  expect(history.primaryChanges().switchover.last).toEqual(moment(3000));
  expect(history.primaryChanges().failover.last).toBeUndefined();
});

test('switchover: by an operator here, also if the old primary misses a probe at the end', () => {
  const { hear, change, kinds } = aLab();
  hear(...start);
  const handover = {
    operation: 'switchover',
    member: 'pg-1',
    phase: 'hold',
    since: 1000,
    mostMs: 60_000,
    transactionMs: 1000,
  } as const;
  change((snapshot) => ({ ...snapshot, handover }));
  hear(silent({ at: 2000, postgres: 'accepts' }), next(3000));
  expect(kinds()).toEqual([0, 1]);
});

test('switchover: at a scheduled time that was known at the loss, whatever the cluster lists later', () => {
  const { hear, change, happened, kinds } = aLab();
  hear(...start);
  change((snapshot) => ({ ...snapshot, switchover: { at: 2500, leader: 'pg-1' } }));
  hear(refused({ at: 2000 }));
  change((snapshot) => ({ ...snapshot, switchover: undefined }));
  const lost = { kind: 'hold', cause: 'no_member' } as const;
  happened({ kind: 'route_changed', pool: 'write', from: lost, to: { kind: 'hold', cause: 'in_recovery' } });
  hear(next(3000));
  expect(kinds()).toEqual([0, 1]);
});

const switchover = { operation: 'op-1', what: 'switchover' } as const;
const sent: readonly ReportedEvent[] = [
  { kind: 'operation_started', ...switchover, to: 'pg-2' },
  { kind: 'operation_phase', ...switchover, phase: 'switch' },
];

test('switchover: its request was sent, and the hold for it was over when the primary stopped', () => {
  const { hear, happened, kinds } = aLab();
  hear(...start);
  sent.forEach(happened);
  hear(refused({ at: 2000 }), next(3000));
  expect(kinds()).toEqual([0, 1]);
});

test('failover: a switchover that ended with the loss before says nothing about this one', () => {
  const { hear, happened, kinds } = aLab();
  hear(...start);
  sent.forEach(happened);
  hear(stopping(2000), isPrimary('pg-1', 3000), refused({ at: 4000 }), next(5000));
  expect(kinds()).toEqual([1, 0]);
});

test('failover: to a member that an operator had drained before', () => {
  const { hear, change, kinds } = aLab();
  hear(...start);
  change((snapshot) => withDrained(snapshot, 'pg-2', 1500));
  hear(next(9000), refused({ at: 9100 }));
  change((snapshot) => withResumed(snapshot, 'pg-2'));
  expect(kinds()).toEqual([1, 0]);
});

test('back and forth: each change counts once', () => {
  const { hear, kinds } = aLab();
  hear(...start, stopping(2000), next(3000));
  hear(asReplica(3100), refused({ member: 'pg-2', at: 4000 }), isPrimary('pg-1', 5000, { timeline: 3 }));
  expect(kinds()).toEqual([1, 1]);
});

test('a reload that removes a pool without a route: the member that serves the others is the primary', () => {
  const [write, read] = [aWritePool(), aPool()];
  const unheard = aWritePool({ name: 'unheard', check: '/leader' });
  const decisions = new DecidedHistory(aPolicy({ pools: [write, unheard, read] }));
  decisions.decide(aSnapshot(policy, aList(0, 'pg-1', 'pg-2'), ...start), 1000);
  expect(decisions.history.primary()).toBeUndefined();
  decisions.reload(policy, 5000);
  expect(decisions.history.primary()).toEqual({ member: 'pg-1', timeline: 1, since: moment(5000) });
});
