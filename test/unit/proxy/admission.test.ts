import { expect, test } from 'vitest';
import { Admission } from '../../../src/proxy/admission.ts';

const HERE = '10.0.0.1';
const THERE = '10.0.0.2';

test('sessions up to the bound, then a limited number of visitors, then nobody', () => {
  const admission = new Admission(() => ({ maxSessions: 2 }));
  const seats = Array.from({ length: 2 + 256 + 1 }, () => admission.admit(HERE));
  expect([0, 1, 2, 257, 258].map((index) => seats[index]?.kind)).toEqual([
    'session',
    'session',
    'visitor',
    'visitor',
    'none',
  ]);
  expect([seats[1]?.full, seats[2]?.full]).toEqual([undefined, 'the bound of 2 sessions is reached']);
});

test('who leaves makes room for its own kind, once', () => {
  const admission = new Admission(() => ({ maxSessions: 1 }));
  const session = admission.admit(HERE);
  const visitors = Array.from({ length: 256 }, () => admission.admit(HERE));
  expect(admission.admit(HERE).kind).toBe('none');
  visitors[0]?.leave();
  visitors[0]?.leave();
  expect([admission.admit(HERE).kind, admission.admit(HERE).kind]).toEqual(['visitor', 'none']);
  session.leave();
  expect(admission.admit(HERE).kind).toBe('session');
});

test('a cancel request gives its slot back', () => {
  const admission = new Admission(() => ({ maxSessions: 1 }));
  const cancel = admission.admit(HERE);
  cancel.becomeVisitor();
  expect(cancel.kind).toBe('visitor');
  expect(admission.admit(HERE).kind).toBe('session');
  cancel.leave();
  expect(admission.admit(HERE).kind).toBe('visitor');
});

test('the bound per address is that of one address', () => {
  const admission = new Admission(() => ({ maxSessions: 9, maxSessionsPerAddress: 1 }));
  const first = admission.admit(HERE);
  expect(admission.admit(HERE)).toMatchObject({
    kind: 'visitor',
    full: 'the bound of 1 sessions from 10.0.0.1 is reached',
  });
  expect(admission.admit(THERE).kind).toBe('session');
  first.leave();
  expect(admission.admit(HERE).kind).toBe('session');
});

test('over the bound of those that have not said what they want nobody is heard; who says it makes room', () => {
  const admission = new Admission(() => ({ maxSessions: 9, maxStarting: 1 }));
  const first = admission.admit(HERE);
  const second = admission.admit(THERE);
  expect(second).toMatchObject({
    kind: 'none',
    full: 'the bound of 1 clients that have not said yet what they want is reached',
  });
  second.leave();
  first.starts(false);
  const third = admission.admit(THERE);
  expect(third.kind).toBe('session');
  expect(admission.admit(HERE).kind).toBe('none');
});

test('bounds that change count for who comes after', () => {
  let maxSessions = 1;
  const admission = new Admission(() => ({ maxSessions }));
  const first = admission.admit(HERE);
  maxSessions = 2;
  expect(admission.admit(HERE).kind).toBe('session');
  maxSessions = 1;
  first.leave();
  expect(admission.admit(HERE).kind).toBe('visitor');
});
