import { expect, test } from 'vitest';
import { Admission } from '../../../../src/proxy/accept/admission.ts';
import type { Seat } from '../../../../src/proxy/accept/admission.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';

const HERE = '10.0.0.1';
const CLIENT = { bytesRead: () => 0, drop: () => {} };
const THERE = '10.0.0.2';

test('sessions up to the bound, then a limited number of visitors, then nobody', () => {
  const admission = new Admission({ bounds: () => ({ maxSessions: 2 }), clock: new ManualClock() });
  const seats = Array.from({ length: 2 + 256 + 1 }, () => admission.admit(HERE, CLIENT));
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
  const admission = new Admission({ bounds: () => ({ maxSessions: 1 }), clock: new ManualClock() });
  const session = admission.admit(HERE, CLIENT);
  const visitors = Array.from({ length: 256 }, () => admission.admit(HERE, CLIENT));
  expect(admission.admit(HERE, CLIENT).kind).toBe('none');
  visitors[0]?.leave();
  visitors[0]?.leave();
  expect([admission.admit(HERE, CLIENT).kind, admission.admit(HERE, CLIENT).kind]).toEqual(['visitor', 'none']);
  session.leave();
  expect(admission.admit(HERE, CLIENT).kind).toBe('session');
});

test('a cancel request gives its slot back', () => {
  const admission = new Admission({ bounds: () => ({ maxSessions: 1 }), clock: new ManualClock() });
  const cancel = admission.admit(HERE, CLIENT);
  cancel.becomeVisitor();
  expect(cancel.kind).toBe('visitor');
  expect(admission.admit(HERE, CLIENT).kind).toBe('session');
  cancel.leave();
  expect(admission.admit(HERE, CLIENT).kind).toBe('visitor');
});

test('the bound per address is that of one address', () => {
  const admission = new Admission({
    bounds: () => ({ maxSessions: 9, maxSessionsPerAddress: 1 }),
    clock: new ManualClock(),
  });
  const first = admission.admit(HERE, CLIENT);
  expect(admission.admit(HERE, CLIENT)).toMatchObject({
    kind: 'visitor',
    full: 'the bound of 1 sessions from 10.0.0.1 is reached',
  });
  expect(admission.admit(THERE, CLIENT).kind).toBe('session');
  first.leave();
  expect(admission.admit(HERE, CLIENT).kind).toBe('session');
});

test('over the bound of those that have not said what they want nobody is heard; who says it makes room', () => {
  const admission = new Admission({ bounds: () => ({ maxSessions: 9, maxStarting: 1 }), clock: new ManualClock() });
  const first = admission.admit(HERE, CLIENT);
  const second = admission.admit(THERE, CLIENT);
  expect(second).toMatchObject({
    kind: 'none',
    full: 'the bound of 1 clients that have not said yet what they want is reached',
  });
  second.leave();
  first.starts(false);
  const third = admission.admit(THERE, CLIENT);
  expect(third.kind).toBe('session');
  expect(admission.admit(HERE, CLIENT).kind).toBe('none');
});

test('bounds that change count for who comes after', () => {
  let maxSessions = 1;
  const admission = new Admission({ bounds: () => ({ maxSessions }), clock: new ManualClock() });
  const first = admission.admit(HERE, CLIENT);
  maxSessions = 2;
  expect(admission.admit(HERE, CLIENT).kind).toBe('session');
  maxSessions = 1;
  first.leave();
  expect(admission.admit(HERE, CLIENT).kind).toBe('visitor');
});

/** A client that gives up its seat when it is told to. */
function aClient() {
  const client = {
    seat: undefined as Seat | undefined,
    bytes: 0,
    isDropped: false,
    bytesRead: () => client.bytes,
    drop: () => {
      client.isDropped = true;
      client.seat?.leave();
    },
  };
  return client;
}

function aRow(bounds: ConstructorParameters<typeof Admission>[0]['bounds'], count: number) {
  const clock = new ManualClock();
  const admission = new Admission({ bounds, clock });
  const enter = () => {
    const client = aClient();
    client.seat = admission.admit(HERE, client);
    return client;
  };
  const clients = Array.from({ length: count }, enter);
  return { clock, enter, clients, dropped: () => clients.map(({ isDropped }) => isDropped) };
}

test.each([
  ['clients that have not said what they want', { maxSessions: 9, maxStarting: 3 }],
  ['sessions', { maxSessions: 3 }],
])('where the bound of %s is reached, the client that was silent for longest goes, not the newest', (_, bounds) => {
  const { clock, enter, clients, dropped } = aRow(() => bounds, 3);
  clock.stall(999);
  const refused = enter();
  expect(refused.seat?.kind, 'nobody was silent for a second').not.toBe('session');
  refused.seat?.leave();
  clock.stall(1);
  expect(enter().seat?.kind).toBe('session');
  expect(dropped()).toEqual([true, false, false]);
  // The second has spoken since it came.
  if (clients[1] !== undefined) clients[1].bytes = 1;
  expect(enter().seat?.kind).toBe('session');
  expect(dropped()).toEqual([true, false, true]);
  clock.stall(1_000);
  expect([enter().seat?.kind, enter().seat?.kind]).toEqual(['session', 'session']);
  expect(dropped()).toEqual([true, true, true]);
});

test('a client that said what it wants is not dropped, however silent it is', () => {
  const { clock, enter, clients, dropped } = aRow(() => ({ maxSessions: 3 }), 3);
  for (const { seat } of clients) seat?.starts(false);
  clock.stall(60_000);
  expect(enter().seat?.kind).toBe('visitor');
  expect(dropped()).toEqual([false, false, false]);
});
