// A session at one server: how it begins there, what it tells of itself, and how it leaves.
import { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { carry } from '../../../../src/proxy/socket.ts';
import { WAITING_READ } from '../../../support/labs/conversation-lab.ts';
import { BRANCH, KEY, LOGIN, PG_1, RelayedLab } from '../../../support/labs/relayed-lab.ts';
import { AUTHENTICATION_OK, COMMAND_COMPLETE, FLUSH, QUERY, readyForQuery } from '../../../support/sockets/messages.ts';

const ANSWER = Buffer.concat([COMMAND_COMPLETE, readyForQuery('I')]);
const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');
/** It can be cancelled with that. */
const OWN_KEY = { processId: 7, secret: 'key!' };

describe('a session begins', () => {
  test('with its startup packet and its login, which the client reads as it comes', () => {
    const lab = new RelayedLab();
    lab.start({ bytes: FLUSH });
    expect(lab.calls).toEqual(['7 is watched in write', 'traffic of write', 'decided']);
    expect(lab.toServer).toEqual(['startup', text(FLUSH)]);
    lab.fromServer(AUTHENTICATION_OK);
    lab.fromServer(KEY);
    expect(lab.keys.find(OWN_KEY)).toMatchObject({ server: PG_1 });
    expect([lab.relayed.activity(), lab.relayed.isIdle(), lab.relayed.settlesInMs()]).toEqual(['starting', false, 0]);
    lab.fromServer(readyForQuery('I'));
    expect(lab.toClient.join('')).toBe(text(LOGIN));
    expect([lab.relayed.activity(), lab.relayed.isIdle(), lab.relayed.settlesInMs()]).toEqual(['idle', true, 500]);
    expect([lab.triggers, lab.relayed.waitingRead()]).toEqual([[], undefined]);
  });

  test('once: a key that comes again is no other login', () => {
    const lab = new RelayedLab();
    lab.logIn();
    lab.clock.stall(300);
    lab.fromServer(readyForQuery('I'));
    expect(lab.relayed.settlesInMs()).toBe(200);
  });

  test('as it is where it cannot be read', () => {
    const lab = new RelayedLab({ isReadable: false });
    lab.start();
    lab.fromServer(LOGIN);
    expect([lab.toClient, lab.keys.size()]).toEqual([[text(LOGIN)], 0]);
    expect([lab.relayed.activity(), lab.relayed.isIdle()]).toEqual([undefined, false]);
  });

  test.each([
    ['latency', [4]],
    ['none', []],
  ] as const)('with the times of its replies, where somebody wants to know: %s', (balance, expected) => {
    const times: number[] = [];
    const onReply = balance === 'latency' ? (ms: number): void => void times.push(ms) : undefined;
    const lab = new RelayedLab(onReply === undefined ? {} : { onReply });
    lab.logIn();
    lab.fromClient(QUERY);
    lab.clock.stall(4);
    lab.fromServer(ANSWER);
    expect([times, lab.toServer, lab.toClient]).toEqual([expected, [text(QUERY)], [text(ANSWER)]]);
  });
});

describe('a session goes on at its next server', () => {
  const PG_2 = { member: 'pg-2', address: { host: 'pg-2', port: 5432 } };
  const NEXT_KEY = { processId: 8, secret: 'next' };
  const opening = { packet: undefined, bytes: Buffer.from('waited'), hasEnded: false };

  test('with its key, with news for its client before anything else, and with the bytes that waited', () => {
    const lab = new RelayedLab();
    lab.logIn();
    lab.relayed.park(() => {});
    lab.calls.splice(0);
    const backend = new Socket();
    const next = lab.relayed.next(PG_2, backend);
    expect([next.backend(), next.client()]).toEqual([backend, lab.client]);
    next.resume(NEXT_KEY, ANSWER, opening);
    expect(lab.calls.slice(0, 2)).toEqual(['reached pg-2', '7 is watched in write']);
    expect([lab.toClient, lab.toServer]).toEqual([[text(ANSWER)], ['waited']]);
    expect(lab.keys.find(OWN_KEY)).toMatchObject({ current: NEXT_KEY, server: PG_2 });
  });

  test('without news, and at a branch', () => {
    const lab = new RelayedLab({ server: BRANCH });
    lab.relayed.resume(undefined, new Uint8Array(0), opening);
    expect(lab.toClient).toEqual([]);
    expect(lab.calls).toEqual(['7 is watched in write', 'traffic of write', 'decided']);
  });

  test('and the part that moves it knows the stage', () => {
    const stages: unknown[] = [];
    const moving = { relayedBy: (relayed: unknown) => void stages.push(relayed), serverEnded: () => false };
    const lab = new RelayedLab({ moving });
    lab.start();
    const next = lab.relayed.next(PG_2, new Socket());
    next.resume(undefined, new Uint8Array(0), opening);
    expect(stages).toEqual([lab.relayed, next]);
  });
});

describe('a session leaves its server', () => {
  test('parked: the server is told so, and the client’s socket and key stay', () => {
    const lab = new RelayedLab();
    lab.logIn();
    const late: string[] = [];
    expect(lab.relayed.park((chunk) => late.push(text(chunk)))).toBeUndefined();
    lab.fromClient(Buffer.from('late'));
    expect([lab.calls, late]).toEqual([['server ended with a word', 'server destroyed soon', 'decided'], ['late']]);
    lab.relayed.left('parked');
    expect([lab.calls.at(-1), lab.keys.size(), lab.pipes.toClient.isDetached]).toEqual(['is watched no more', 1, true]);
  });

  test('parked with bytes that wait: they are the next server’s', () => {
    const lab = new RelayedLab();
    lab.logIn();
    lab.conversation.tappedBy([{ fromServer: (chunk) => chunk, wait: () => new Promise(() => {}) }]);
    lab.relayed.park(() => {});
    const next = lab.relayed.next(PG_1, new Socket());
    next.resume(undefined, new Uint8Array(0), { packet: undefined, bytes: Buffer.from('abc'), hasEnded: false });
    expect(text(next.park(() => {})?.bytes() ?? new Uint8Array(0))).toBe('abc');
  });

  test('for its end: the server is reset, and nothing more is relayed', () => {
    const lab = new RelayedLab();
    lab.logIn();
    lab.relayed.left('closing');
    lab.conversation.tellServer(QUERY);
    expect([lab.calls, lab.toServer]).toEqual([['is watched no more', 'server reset'], []]);
    expect([lab.keys.size(), lab.conversation.isWhole(), lab.pipes.toClient.isDetached]).toEqual([0, false, true]);
  });

  test.each([
    [true, ['server reset', 'client reset']],
    [false, ['server destroyed', 'client destroyed']],
  ])('cut, with a reset %s', (isReset, expected) => {
    const lab = new RelayedLab();
    lab.logIn();
    lab.relayed.drop(isReset);
    expect([lab.calls, lab.keys.size(), lab.conversation.isWhole()]).toEqual([expected, 0, false]);
  });
});

test('a session may end as it begins', () => {
  const lab = new RelayedLab({ isReadable: false });
  expect(lab.relayed.farewell('too_old')).toBeUndefined();
  lab.relayed.drop(true);
  expect(lab.calls).toEqual(['server reset', 'client reset']);
});

test('a read that waits is shown', () => {
  const lab = new RelayedLab();
  lab.conversation.waitingRead = () => WAITING_READ;
  expect(lab.relayed.waitingRead()).toBe(WAITING_READ);
});

describe('the end of a session', () => {
  test('G9: is told between two messages, with the pool', () => {
    const lab = new RelayedLab();
    lab.logIn();
    const farewell = lab.relayed.farewell('too_old', 'an hour');
    expect(farewell).toMatchObject({ reason: 'too_old', detail: 'an hour', client: lab.client });
    expect(text(farewell?.message ?? new Uint8Array(0))).toContain('pool "write"');
    lab.fromClient(QUERY);
    expect(lab.relayed.farewell('too_old')).toBeUndefined();
  });

  test.each<[string, (lab: RelayedLab) => void, boolean]>([
    ['a client that has half-closed behind all answers', () => {}, false],
    ['one whose last request has no answer yet', (lab) => lab.fromClient(QUERY), true],
  ])('is told to %s by a message or by the end alone', (_, act, isTold) => {
    const lab = new RelayedLab();
    lab.logIn();
    act(lab);
    lab.client.emit('end');
    const farewell = lab.relayed.farewell('killed_by_operator');
    expect([farewell?.reason, farewell?.message !== undefined]).toEqual(['killed_by_operator', isTold]);
  });

  test('is told within a login, although its client has half-closed', () => {
    const lab = new RelayedLab();
    lab.start({ hasEnded: true });
    lab.fromServer(AUTHENTICATION_OK);
    expect(lab.relayed.farewell('too_old')?.message).toBeDefined();
    const unread = new RelayedLab({ isReadable: false });
    unread.start();
    expect(unread.relayed.farewell('too_old')).toBeUndefined();
  });

  test('ends the statement that the server runs, where its key is known', () => {
    const lab = new RelayedLab();
    lab.logIn();
    expect([lab.relayed.endStatement(), lab.calls]).toEqual(['none', []]);
    lab.fromClient(QUERY);
    lab.calls.splice(0);
    expect([lab.relayed.endStatement(), lab.calls]).toEqual(['cancel_sent', ['cancel request to pg-1']]);
    const unread = new RelayedLab({ isReadable: false });
    unread.start();
    expect(unread.relayed.endStatement()).toBe('not_cancelled');
  });
});

test('TLS is with Pointsman, with the server, or nowhere', () => {
  const [plain, through, here] = [new RelayedLab(), new RelayedLab({ isReadable: false }), new RelayedLab()];
  carry(here.client, new Socket());
  expect([plain, through, here].map(({ relayed }) => relayed.tls())).toEqual(['none', 'passthrough', 'terminate']);
});
