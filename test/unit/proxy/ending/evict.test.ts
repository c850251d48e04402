// A new table asks the sessions of a member to leave: which of them end, move, are routed again, or stay, and when.
import { beforeEach, describe, expect, test } from 'vitest';
import type { Action } from '../../../../src/core/actions.ts';
import { ADDRESS, anAction, BUSY, COULD_NOT_MOVE, EvictLab, STAYED } from '../../../support/labs/evict-lab.ts';
import { aTableOf, DEMOTED } from '../../../support/values/tables.ts';

const ELSEWHERE = { host: 'pg-2', port: 5432 };

let lab: EvictLab;

beforeEach(() => {
  lab = new EvictLab();
});

describe('the mode', () => {
  test('close: sessions end at once, and one that is still connecting is routed again, whatever it finds', () => {
    lab.session('idle');
    lab.session('busy', BUSY);
    lab.session('connecting', { state: 'dialing' });
    lab.carryOut(anAction({ cause: 'demoted', mode: 'close' }));
    expect(lab.calls).toEqual([
      'idle ends: evicted_demoted: pg-1: is a replica',
      'busy ends: evicted_demoted: pg-1: is a replica',
      'connecting is routed again, whatever its route',
      'review',
    ]);
    expect(lab.drains).toEqual([]);
  });

  test('keep: sessions that are still connecting are routed again, and no drain begins', () => {
    lab.session('one');
    lab.carryOut(anAction({ mode: 'keep' }));
    expect([lab.calls, lab.drains]).toEqual([['one is routed again', 'review'], []]);
  });

  test('drain: it has the time of its pool, or of the operation', () => {
    lab.session('one');
    lab.carryOut(anAction({ afterMs: 300 }), anAction({ limitMs: 5_000, member: 'pg-9' }));
    expect(lab.calls).toEqual(['one is routed again', 'review']);
    const [first, second] = lab.drains;
    expect([first?.limitMs(), second?.limitMs()]).toEqual([60_000, 5_000]);
    expect(first).toMatchObject({ member: 'pg-1', afterMs: 300, isPrompt: false });
    expect([first?.sessions(), second?.sessions()]).toEqual([lab.sessions, []]);
    expect(first?.parking).toBeUndefined();
  });

  test('drain_idle: it has no deadline', () => {
    expect(lab.drain({ mode: 'drain_idle', limitMs: 5_000 }).limitMs()).toBeUndefined();
  });

  test.each([
    ['drain', 60_000],
    ['abort', 7_000],
  ] as const)('move, and what stays is for %s: the deadline is after %i ms', (onStays, ms) => {
    lab.moves = { onStays, waitMs: 7_000, questions: 3 };
    lab.carryOut(anAction({ mode: 'move' }), anAction({ mode: 'move', limitMs: 5_000 }), anAction());
    expect(lab.drains.map((drain) => drain.limitMs())).toEqual([ms, 5_000, 60_000]);
    lab.moves = undefined;
    expect(lab.drains[0]?.limitMs()).toBe(60_000);
  });
});

test('each server of a pool has one drain, which is over when the member is back', () => {
  lab.carryOut(
    anAction(),
    anAction(),
    anAction({ pool: 'read' }),
    anAction({ address: ELSEWHERE }),
    anAction({ member: 'x' }),
  );
  expect(new Set(lab.drains.map(({ key }) => key)).size).toBe(4);
  const [drain] = lab.drains;
  lab.table = aTableOf({ write: { others: { 'pg-1': { address: ADDRESS, standing: DEMOTED } } } });
  expect(drain?.isOver()).toBe(false);
  lab.table = aTableOf({ write: { open: { 'pg-1': ADDRESS } } });
  expect(drain?.isOver()).toBe(true);
});

describe('a session at the end of its drain', () => {
  test('that has moved since stays', () => {
    const session = lab.session('one', { assignment: () => undefined });
    lab.drain().end(session);
    expect(lab.calls).toEqual([]);
  });

  test.each(['dead', 'silent', 'demoted'] as const)('of a member that is %s is parked, if it can be', (cause) => {
    const session = lab.movable('one');
    const drain = lab.drain({ cause });
    lab.isParkedWhenLost = true;
    drain.end(session);
    expect(lab.calls).toEqual([]);
    lab.isParkedWhenLost = false;
    drain.end(session);
    expect(lab.calls).toHaveLength(1);
  });

  test('of a member that is still there is not lost', () => {
    lab.isParkedWhenLost = true;
    const session = lab.movable('one');
    lab.drain().end(session);
    expect(lab.calls).toEqual(['one ends: evicted_tagged_out: pg-1: is a replica']);
  });

  test.each<[string, Partial<Action>, readonly string[]]>([
    ['with drain ends', {}, ['one ends: evicted_tagged_out: pg-1: is a replica']],
    ['with move moves', { mode: 'move' }, ['one moves: tagged_out']],
    ['for an operation moves', { cause: 'restart' }, ['one moves: restart']],
  ])('%s', (_, action, expected) => {
    const session = lab.movable('one');
    lab.drain(action).end(session);
    expect(lab.calls).toEqual(expected);
  });

  test('of a primary that is superseded ends: the next one may lack what it had confirmed', () => {
    const session = lab.movable('one');
    const drain = lab.drain({ mode: 'move', cause: 'demoted', why: { code: 'superseded' } });
    drain.end(session);
    expect([drain.parking, lab.calls[0]?.startsWith('one ends: evicted_demoted')]).toEqual([undefined, true]);
  });

  test('that stays at its server although it may move ends with the reason', () => {
    const session = lab.movable('one');
    lab.drain({ mode: 'move' }).end(session);
    lab.tell({ kind: 'parked' });
    expect(lab.calls).toHaveLength(1);
    lab.tell(STAYED);
    expect(lab.calls[1]).toContain(`one ends: evicted_tagged_out: pg-1: is a replica${COULD_NOT_MOVE}`);
  });

  test.each<[string, 'drain' | 'abort', Action['cause'], string]>([
    ['ends', 'drain', 'tagged_out', 'one ends: evicted_tagged_out: pg-1: is a replica'],
    ['is rolled back where that is configured', 'abort', 'tagged_out', 'one is aborted: tagged_out, and told of pg-1'],
    ['ends where its server is gone', 'abort', 'dead', 'one ends: evicted_dead: pg-1: is a replica'],
  ])('in a transaction %s', (_, onStays, cause, expected) => {
    lab.moves = { onStays, waitMs: 7_000, questions: 3 };
    const session = lab.movable('one', BUSY);
    lab.drain({ mode: 'move', cause }).end(session);
    expect(lab.calls).toEqual([expected]);
  });

  test('whose transaction was rolled back ends where it cannot move', () => {
    lab.moves = { onStays: 'abort', waitMs: 7_000, questions: 3 };
    const session = lab.movable('one', BUSY);
    lab.drain({ mode: 'move' }).end(session);
    lab.tell({ kind: 'parked' });
    lab.tell(STAYED);
    expect(lab.calls.slice(1).join()).toContain(`one ends: evicted_tagged_out: pg-1: is a replica${COULD_NOT_MOVE}`);
    expect(lab.calls).toHaveLength(2);
  });
});

describe('the words at the end', () => {
  test.each<[string, Partial<Action>, string]>([
    ['a member that is gone', { cause: 'removed', why: { code: 'never_answered' } }, 'pg-1: is no longer there'],
    ['a promoted replica', { cause: 'promoted', why: { code: 'fallback' } }, 'pg-1 was promoted and left pool write'],
  ])('tell of %s', (_, action, words) => {
    const session = lab.session('one');
    lab.drain(action).end(session);
    expect(lab.calls).toEqual([`one ends: evicted_${action.cause}: ${words}`]);
  });

  test.each([
    ['removed', 'wrong_role', 'pg-1: is a replica'],
    ['tagged_out', 'never_answered', 'pg-1: '],
  ] as const)('of another reason are those of its standing: %s, %s', (cause, code, words) => {
    const session = lab.session('one');
    lab.drain({ cause, why: { code, detail: 'is a replica' } }).end(session);
    expect(lab.calls[0]).toContain(`one ends: evicted_${cause}: ${words}`);
    expect(lab.calls[0]).not.toContain('is no longer there');
  });

  test('tell of a silent member when its sessions close', () => {
    const evidence = { check: '/primary', isExclusive: true, freshMs: 5_000, graceMs: 15_000 };
    const session = lab.session('one');
    lab.drain({ cause: 'silent', why: { code: 'no_answer', evidence } }).end(session);
    expect(lab.calls[0]).toContain('; sessions close after 15 s');
  });

  test('tell a switchover that cuts from one that finds a pause', () => {
    const [idle, cut] = [lab.session('idle'), lab.session('cut', BUSY)];
    lab.carryOut(anAction({ cause: 'switchover' }), anAction({ cause: 'restart' }));
    for (const { end } of lab.drains) for (const session of [idle, cut]) end(session);
    expect(lab.calls.slice(-4).map((call) => call.split(': ')[1])).toEqual([
      'evicted_switchover',
      'evicted_switchover_timeout',
      'evicted_restart',
      'evicted_restart',
    ]);
  });
});
