import { expect, test } from 'vitest';
import { Admission } from '../../../../src/proxy/accept/admission.ts';
import type { Slot } from '../../../../src/proxy/accept/admission.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';

const HERE = '10.0.0.1';
const CLIENT = { bytesRead: () => 0, drop: () => {} };
const THERE = '10.0.0.2';

test('sessions up to the limit, then a limited number of over-limit connections, then no connection', () => {
  const admission = new Admission({ limits: () => ({ maxSessions: 2 }), clock: new ManualClock() });
  const slots = Array.from({ length: 2 + 256 + 1 }, () => admission.admit(HERE, CLIENT));
  expect([0, 1, 2, 257, 258].map((index) => slots[index]?.kind)).toEqual([
    'session',
    'session',
    'over_limit',
    'over_limit',
    'none',
  ]);
  expect([slots[1]?.exceededLimit, slots[2]?.exceededLimit]).toEqual([undefined, 'the limit of 2 sessions is reached']);
});

test('a connection that leaves makes room for its own kind, once', () => {
  const admission = new Admission({ limits: () => ({ maxSessions: 1 }), clock: new ManualClock() });
  const session = admission.admit(HERE, CLIENT);
  const overLimit = Array.from({ length: 256 }, () => admission.admit(HERE, CLIENT));
  expect(admission.admit(HERE, CLIENT).kind).toBe('none');
  overLimit[0]?.release();
  overLimit[0]?.release();
  expect([admission.admit(HERE, CLIENT).kind, admission.admit(HERE, CLIENT).kind]).toEqual(['over_limit', 'none']);
  session.release();
  expect(admission.admit(HERE, CLIENT).kind).toBe('session');
});

test('a cancel request gives its slot back', () => {
  const admission = new Admission({ limits: () => ({ maxSessions: 1 }), clock: new ManualClock() });
  const cancel = admission.admit(HERE, CLIENT);
  cancel.becomeOverLimit();
  expect(cancel.kind).toBe('over_limit');
  expect(admission.admit(HERE, CLIENT).kind).toBe('session');
  cancel.release();
  expect(admission.admit(HERE, CLIENT).kind).toBe('over_limit');
});

test('the limit per address counts that address only', () => {
  const admission = new Admission({
    limits: () => ({ maxSessions: 9, maxSessionsPerAddress: 1 }),
    clock: new ManualClock(),
  });
  const first = admission.admit(HERE, CLIENT);
  expect(admission.admit(HERE, CLIENT)).toMatchObject({
    kind: 'over_limit',
    exceededLimit: 'the limit of 1 sessions from 10.0.0.1 is reached',
  });
  expect(admission.admit(THERE, CLIENT).kind).toBe('session');
  first.release();
  expect(admission.admit(HERE, CLIENT).kind).toBe('session');
});

test('the limit per address holds for clients that a load balancer names after their accept', () => {
  const admission = new Admission({
    limits: () => ({ maxSessions: 9, maxSessionsPerAddress: 1 }),
    clock: new ManualClock(),
    descriptors: { limit: 256, sessions: 9, overLimit: 1 },
  });
  const slots = Array.from({ length: 4 }, () => admission.admit(undefined, CLIENT));
  admission.admit(undefined, CLIENT).release();
  expect(admission.tally().sessions).toBe(4);
  for (const slot of slots) slot.identify(HERE);
  expect(slots.map(({ kind }) => kind)).toEqual(['session', 'over_limit', 'none', 'none']);
  expect(admission.tally().sessions).toBe(1);
  for (const slot of slots) slot.release();
  expect(admission.tally()).toMatchObject({ sessions: 0, starting: 0 });
  expect(admission.admit(HERE, CLIENT).kind).toBe('session');
});

test('over the limit of handshakes a connection is refused; a finished handshake makes room', () => {
  const admission = new Admission({ limits: () => ({ maxSessions: 9, maxHandshakes: 1 }), clock: new ManualClock() });
  const first = admission.admit(HERE, CLIENT);
  const second = admission.admit(THERE, CLIENT);
  expect(second).toMatchObject({
    kind: 'none',
    exceededLimit: 'the limit of 1 clients in their handshake is reached',
  });
  second.release();
  first.setStarting(false);
  const third = admission.admit(THERE, CLIENT);
  expect(third.kind).toBe('session');
  expect([admission.handshakes(), admission.admit(HERE, CLIENT).kind]).toEqual([1, 'none']);
});

test('a connection that was cut off for its handshake gets no slot later, however much room there is', () => {
  const admission = new Admission({ limits: () => ({ maxSessions: 9, maxHandshakes: 0 }), clock: new ManualClock() });
  const cutOff = admission.admit(HERE, CLIENT);
  cutOff.becomeOverLimit();
  expect([admission.hasRoomForOverLimit(), cutOff.kind]).toEqual([true, 'none']);
});

test('a changed limit applies to later connections', () => {
  let maxSessions = 1;
  const admission = new Admission({ limits: () => ({ maxSessions }), clock: new ManualClock() });
  const first = admission.admit(HERE, CLIENT);
  maxSessions = 2;
  expect(admission.admit(HERE, CLIENT).kind).toBe('session');
  maxSessions = 1;
  first.release();
  expect(admission.admit(HERE, CLIENT).kind).toBe('over_limit');
});

/** A client that gives up its slot on request. */
function aClient() {
  const client = {
    slot: undefined as Slot | undefined,
    bytes: 0,
    isDropped: false,
    bytesRead: () => client.bytes,
    drop: () => {
      client.isDropped = true;
      client.slot?.release();
    },
  };
  return client;
}

function aRow(limits: ConstructorParameters<typeof Admission>[0]['limits'], count: number) {
  const clock = new ManualClock();
  const admission = new Admission({ limits, clock });
  const enter = () => {
    const client = aClient();
    client.slot = admission.admit(HERE, client);
    return client;
  };
  const clients = Array.from({ length: count }, enter);
  return { clock, enter, clients, dropped: () => clients.map(({ isDropped }) => isDropped) };
}

test.each([
  ['clients in their handshake', { maxSessions: 9, maxHandshakes: 3 }],
  ['sessions', { maxSessions: 3 }],
])('at the limit of %s, the client with the longest silence is dropped, not the newest', (_, bounds) => {
  const { clock, enter, clients, dropped } = aRow(() => bounds, 3);
  clock.stall(999);
  const refused = enter();
  expect(refused.slot?.kind, 'nobody was silent for a second').not.toBe('session');
  refused.slot?.release();
  clock.stall(1);
  expect(enter().slot?.kind).toBe('session');
  expect(dropped()).toEqual([true, false, false]);
  // The second client has sent bytes since it came.
  if (clients[1] !== undefined) clients[1].bytes = 1;
  expect(enter().slot?.kind).toBe('session');
  expect(dropped()).toEqual([true, false, true]);
  clock.stall(1_000);
  expect([enter().slot?.kind, enter().slot?.kind]).toEqual(['session', 'session']);
  expect(dropped()).toEqual([true, true, true]);
});

test('a client with a finished handshake is not dropped, however silent it is', () => {
  const { clock, enter, clients, dropped } = aRow(() => ({ maxSessions: 3 }), 3);
  for (const { slot } of clients) slot?.setStarting(false);
  clock.stall(60_000);
  expect(enter().slot?.kind).toBe('over_limit');
  expect(dropped()).toEqual([false, false, false]);
});

test('a client that sends something is silent later than those that came after it', () => {
  const { clock, enter, clients, dropped } = aRow(() => ({ maxSessions: 3 }), 3);
  clock.stall(1_000);
  if (clients[0] !== undefined) clients[0].bytes = 1;
  enter();
  expect(dropped()).toEqual([false, true, false]);
  clock.stall(500);
  expect(enter().slot?.kind).toBe('session');
  expect(dropped()).toEqual([false, true, true]);
});

test('a silent client over the limit is not dropped where a session is needed', () => {
  const { clock, enter, clients } = aRow(() => ({ maxSessions: 1 }), 1);
  clients[0]?.slot?.setStarting(false);
  const overLimit = enter();
  clients[0]?.slot?.release();
  const session = enter();
  clock.stall(1_000);
  expect(enter().slot?.kind).toBe('session');
  expect([overLimit, session].map(({ isDropped }) => isDropped)).toEqual([false, true]);
});

test('a silent client over the limit is dropped where a place for a handshake is needed', () => {
  const { clock, enter, clients } = aRow(() => ({ maxSessions: 1, maxHandshakes: 1 }), 1);
  clients[0]?.slot?.setStarting(false);
  const overLimit = enter();
  clock.stall(1_000);
  expect([enter().slot?.kind, overLimit.isDropped]).toEqual(['over_limit', true]);
});
