// Which sessions a switchover counts as its own.
import { expect, test } from 'vitest';
import { SessionTally } from '../../../../src/cluster/switchover/session-tally.ts';
import type { CloseReason } from '../../../../src/model/close-reason.ts';

const CLOSED = { kind: 'session_closed', pool: 'write', client: 'c', detail: undefined } as const;
const SIZES = { durationMs: 1, toBackendBytes: 0, toClientBytes: 0 };

function close(tally: SessionTally, session: number, reason: CloseReason): void {
  tally.take({ ...CLOSED, ...SIZES, session, reason, member: 'pg-1' });
}

test('a session that ends before the drain is none of them, and one that is left has not ended', () => {
  const tally = new SessionTally('pg-1', ['write']);
  close(tally, 1, 'backend_closed');
  tally.drainBegins(4);
  for (const session of [2, 3]) close(tally, session, 'backend_closed');
  close(tally, 4, 'evicted_switchover');
  tally.left(1);
  tally.left(3);
  expect(tally.document()).toMatchObject({ at_start: 4, ended: 1, lost: 2, cut: 0 });
});

test('a session whose transaction was rolled back is not waited for: its client may say nothing for long', () => {
  const tally = new SessionTally('pg-1', ['write']);
  const of = { pool: 'write', member: 'pg-1', cause: 'switchover' } as const;
  tally.take({ kind: 'session_parked', session: 1, ...of, hasAborted: true });
  tally.take({ kind: 'session_parked', session: 2, ...of });
  expect(tally.parkedNow()).toBe(1);
  for (const session of [2, 1]) {
    const moved = { from: 'pg-1', to: 'pg-2', gapMs: 1, loginMs: 1, wasWaiting: false } as const;
    tally.take({ kind: 'session_moved', pool: 'write', cause: 'switchover', session, ...moved });
    expect(tally.parkedNow()).toBe(0);
  }
  expect(tally.document()).toMatchObject({ parked: 2, aborted: 1, moved: 2 });
});

test('only a session that left the member for the switchover is parked', () => {
  const tally = new SessionTally('pg-1', ['write']);
  const of = { pool: 'write', member: 'pg-1', cause: 'switchover' } as const;
  tally.take({ kind: 'session_stayed', session: 1, ...of, reason: 'busy' });
  tally.take({ kind: 'session_parked', session: 2, ...of, member: 'pg-2' });
  tally.take({ kind: 'session_parked', session: 3, ...of, cause: 'lagging' });
  expect(tally.parkedNow()).toBe(0);
  tally.take({ kind: 'session_parked', session: 4, ...of });
  expect(tally.document()).toMatchObject({ parked: 1, moved: 0 });
});
