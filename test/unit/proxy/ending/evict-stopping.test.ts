// The sessions of a server that is about to stop: they are parked in an order of their own, or leave before a
// switchover that is scheduled.
import { beforeEach, describe, expect, test } from 'vitest';
import type { Action } from '../../../../src/core/actions.ts';
import type { Drain } from '../../../../src/proxy/ending/drains.ts';
import type { SessionHandle } from '../../../../src/proxy/stage.ts';
import { ADDRESS, BUSY, COULD_NOT_MOVE, EvictLab, STAYED } from '../../../support/labs/evict-lab.ts';
import { aTableOf } from '../../../support/values/tables.ts';

const MOVES = { onStays: 'drain', waitMs: 7_000, questions: 3 } as const;
const SWITCHOVER = { cause: 'switchover', why: { code: 'switchover_running', since: 0 } } as const;

let lab: EvictLab;

beforeEach(() => {
  lab = new EvictLab();
  lab.moves = MOVES;
});

/** The answers about the session, for its drain. */
function park(drain: Drain, session: SessionHandle): readonly string[] {
  const answers: string[] = [];
  drain.parking?.park(session, (answer) => answers.push(answer));
  return answers;
}

describe('sessions are parked', () => {
  test.each<[string, Partial<Action>, boolean | undefined]>([
    ['for a switchover, which waits for all of them', SWITCHOVER, true],
    ['for a restart, too', { cause: 'restart' }, true],
    ['before a scheduled switchover, which waits for nobody', { ...SWITCHOVER, keepsPinned: true }, false],
    ['where somebody else demotes the primary', { cause: 'demoted', mode: 'move' }, false],
    ['and not where they do not move then', { cause: 'demoted', mode: 'drain' }, undefined],
    ['and not of a server that goes on', { cause: 'tagged_out', mode: 'move' }, undefined],
  ])('%s', (_, action, waitsForAll) => {
    const { parking } = lab.drain(action);
    expect(parking?.waitsForAll).toBe(waitsForAll);
    if (parking !== undefined) expect(parking).toMatchObject({ waitMs: 7_000, questions: 3 });
  });

  test('only where sessions move at all', () => {
    lab.moves = undefined;
    const drain = lab.drain(SWITCHOVER);
    expect([drain.parking, drain.isPrompt]).toEqual([undefined, true]);
  });

  test.each([
    ['parked', { kind: 'parked' }, 'gone'],
    ['busy', { kind: 'stayed', reason: 'busy' }, 'busy'],
    ['pinned', STAYED, 'stays'],
  ] as const)('one that is %s', (_, progress, answer) => {
    const answers = park(lab.drain(SWITCHOVER), lab.movable('one'));
    expect([lab.calls, answers]).toEqual([['one moves: switchover'], []]);
    lab.tell(progress);
    lab.tell(STAYED);
    expect(answers).toEqual([answer]);
  });

  test('one that cannot move stays, and one that has moved is gone', () => {
    const drain = lab.drain(SWITCHOVER);
    expect(park(drain, lab.session('one'))).toEqual(['stays']);
    expect(park(drain, lab.session('one', { assignment: () => undefined }))).toEqual(['gone']);
    expect(park(drain, lab.movable('one', { assignment: () => undefined }))).toEqual(['gone']);
    expect(lab.calls).toEqual([]);
  });

  test('a primary that is demoted may end a session within a question: it is parked without one', () => {
    lab.isParkedWhenLost = true;
    expect(park(lab.drain({ cause: 'demoted', mode: 'move' }), lab.movable('one'))).toEqual(['gone']);
    expect(park(lab.drain({ cause: 'demoted', mode: 'move' }), lab.session('one'))).toEqual(['stays']);
    expect(park(lab.drain(SWITCHOVER), lab.movable('one'))).toEqual([]);
    expect(lab.calls).toEqual(['one moves: switchover']);
    lab.isParkedWhenLost = false;
    expect(park(lab.drain({ cause: 'demoted', mode: 'move' }), lab.movable('one'))).toEqual([]);
    expect(lab.calls).toEqual(['one moves: demoted']);
  });
});

describe('a session that stays', () => {
  const why = { code: 'wrong_role', detail: 'is a replica' } as const;

  test('ends, with what keeps it as far as that is known', () => {
    const drain = lab.drain({ cause: 'restart', why });
    drain.parking?.onStays(lab.session('one'));
    drain.parking?.onStays(lab.movable('two'));
    lab.found = { at: 0, movability: { kind: 'movable' } };
    drain.parking?.onStays(lab.movable('three'));
    const words = 'ends: evicted_restart: pg-1: is a replica';
    expect(lab.calls.splice(0)).toEqual([`one ${words}`, `two ${words}`, `three ${words}`]);
    lab.found = { at: 0, movability: { kind: 'pinned', reason: 'listening' } };
    drain.parking?.onStays(lab.movable('four'));
    expect(lab.calls[0]).toContain(`four ${words}${COULD_NOT_MOVE}`);
  });

  test('is left to its server before a scheduled switchover', () => {
    lab.drain({ ...SWITCHOVER, keepsPinned: true }).parking?.onStays(lab.movable('one'));
    expect(lab.calls).toEqual([]);
  });
});

describe('before a scheduled switchover', () => {
  const DUE = { cause: 'switchover', mode: 'drain_idle', keepsPinned: true } as const;
  const due = (since: number | undefined): Partial<Action> => ({ ...DUE, why: { code: 'switchover_due', since } });

  test('sessions move, and those that cannot stay', () => {
    const drain = lab.drain(due(undefined));
    drain.end(lab.session('no part that moves it'));
    drain.end(lab.movable('dialing', { state: 'dialing' }));
    drain.end(lab.movable('idle'));
    lab.tell(STAYED);
    drain.end(lab.movable('busy', BUSY));
    lab.tell(STAYED);
    expect(lab.calls).toEqual(['idle moves: switchover', 'busy moves: switchover']);
  });

  test('transactions are rolled back where that is configured, and their sessions end if they cannot move', () => {
    lab.moves = { ...MOVES, onStays: 'abort' };
    const drain = lab.drain(due(undefined));
    drain.end(lab.movable('idle'));
    drain.end(lab.movable('busy', BUSY));
    expect(lab.calls).toEqual(['idle moves: switchover', 'busy is aborted: switchover, and told of pg-1']);
    lab.tell(STAYED);
    expect(lab.calls[2]).toContain('busy ends: evicted_switchover_timeout: pg-1: ');
  });

  test('the deadline is just before it, where transactions are rolled back', () => {
    const now = lab.clock.now();
    expect(lab.drain(due(now + 5_000)).limitMs()).toBeUndefined();
    lab.moves = { ...MOVES, onStays: 'abort' };
    expect(lab.drain(due(now + 5_000)).limitMs()).toBe(4_400);
    expect(lab.drain(due(now + 100)).limitMs()).toBe(0);
    expect(lab.drain(due(undefined)).limitMs()).toBeUndefined();
    const why = { code: 'switchover_due', since: now + 5_000 } as const;
    expect(lab.drain({ cause: 'switchover', mode: 'drain', why }).limitMs()).toBe(60_000);
  });

  test('the drain is over when the switchover is not due any more', () => {
    const drain = lab.drain(due(undefined));
    const keep = { kind: 'keep', why: { code: 'switchover_due' } } as const;
    lab.table = aTableOf({ write: { others: { 'pg-1': { address: ADDRESS, standing: keep } } } });
    expect(drain.isOver()).toBe(false);
    lab.table = aTableOf({ write: { open: { 'pg-1': ADDRESS } } });
    expect(drain.isOver()).toBe(true);
  });
});
