import { describe, expect, test } from 'vitest';
import type { CloseReason } from '../../../src/model/close-reason.ts';
import { createNarration } from '../../../src/sandbox/narration.ts';

interface Narrated {
  readonly lines: string[];
  readonly tell: ReturnType<typeof createNarration>;
  /** Callbacks that run after the decision. */
  readonly flush: () => void;
}

function narrate(): Narrated {
  const lines: string[] = [];
  const later: (() => void)[] = [];
  return {
    lines,
    tell: createNarration({ write: (line) => lines.push(line), later: (run) => later.push(run) }),
    flush: () => later.splice(0).forEach((run) => run()),
  };
}

function closed(member: string | undefined, reason: CloseReason) {
  const counts = { durationMs: 5, toBackendBytes: 0, toClientBytes: 0 };
  return {
    kind: 'session_closed',
    pool: 'write',
    session: 1,
    client: 'c',
    member,
    reason,
    detail: undefined,
    ...counts,
  } as const;
}

describe('held clients', () => {
  const held = { pool: 'write', session: 1 } as const;

  test('the first is reported at once, all of them when the last has left the queue', () => {
    const { lines, tell } = narrate();
    tell({ kind: 'hold_started', ...held, cause: 'no_member' });
    tell({ kind: 'hold_started', ...held, session: 2, cause: 'no_member' });
    expect(lines).toEqual(['pool write: clients are waiting']);
    tell({ kind: 'hold_ended', ...held, outcome: 'released', waitedMs: 4812 });
    expect(lines).toHaveLength(1);
    tell({ kind: 'hold_ended', ...held, session: 2, outcome: 'released', waitedMs: 90 });
    expect(lines[1]).toBe('pool write: 2 clients waited, the longest 4.8 s, then connected');
  });

  test.each([
    [['timeout'], '1 client waited 1 s, not connected'],
    [['timeout', 'released'], '2 clients waited, the longest 1 s, 1 connected, 1 not'],
  ] as const)('%s', (outcomes, text) => {
    const { lines, tell } = narrate();
    for (const session of outcomes.keys()) tell({ kind: 'hold_started', ...held, session, cause: 'no_member' });
    for (const [session, outcome] of outcomes.entries())
      tell({ kind: 'hold_ended', ...held, session, outcome, waitedMs: 1000 });
    expect(lines[1]).toBe(`pool write: ${text}`);
  });
});

describe('ended sessions', () => {
  test('sessions with one decision and one reason share one line', () => {
    const { lines, tell, flush } = narrate();
    tell(closed('pg-1', 'evicted_dead'));
    tell(closed('pg-1', 'evicted_dead'));
    tell(closed('pg-2', 'backend_reset'));
    expect(lines).toEqual([]);
    flush();
    expect(lines).toEqual(['2 sessions closed on pg-1: evicted_dead', '1 session closed on pg-2: backend_reset']);
    tell(closed('pg-1', 'evicted_dead'));
    flush();
    expect(lines).toHaveLength(3);
  });

  test.each(['client_closed', 'client_reset'] as const)('%s causes no line', (reason) => {
    const { lines, tell, flush } = narrate();
    tell(closed('pg-1', reason));
    flush();
    expect(lines).toEqual([]);
  });
});

test('a changed route is reported in the words of the log', () => {
  const { lines, tell } = narrate();
  tell({ kind: 'route_changed', pool: 'write', from: undefined, to: { kind: 'hold', cause: 'no_member' } });
  expect(lines).toEqual(['pool write: no eligible member, clients wait']);
});

test('a member that serves by fallback appears only in the line about the route', () => {
  const { lines, tell } = narrate();
  const event = { kind: 'standing_changed', pool: 'read', member: 'pg-1', from: undefined, text: 'why' } as const;
  tell({ ...event, to: { kind: 'open', why: { code: 'fallback' } } });
  expect(lines).toEqual([]);
  tell({ ...event, to: { kind: 'open', why: { code: 'positive' } } });
  expect(lines).toEqual(['pool read: pg-1: eligible: why']);
});

test('a connect that fails has no line of its own, although the log has one', () => {
  const { lines, tell } = narrate();
  tell({ kind: 'dial_finished', pool: 'write', session: 1, member: 'pg-1', outcome: 'refused', durationMs: 1 });
  expect(lines).toEqual([]);
});
