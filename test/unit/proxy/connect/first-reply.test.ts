// The first exchange with a server: its reply is for the client or for the caller, and the connection goes on or ends.
import { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { awaitFirstReply, type FirstReplyOptions } from '../../../../src/proxy/connect/first-reply.ts';
import { AUTHENTICATION_OK, errorOf, readyForQuery } from '../../../support/sockets/messages.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';

const STARTING = errorOf(['SFATAL', 'VFATAL', 'C57P03', 'Mthe database system is starting up']);
const FULL = errorOf(['SFATAL', 'VFATAL', 'C53300', 'Mtoo many clients']);
const GREETING = Buffer.concat([AUTHENTICATION_OK, readyForQuery('I')]);
const EVENTS = ['data', 'error', 'end', 'close'];

function start(changes: Partial<FirstReplyOptions> = {}, kind: 'startup' | 'negotiation' = 'startup') {
  const clock = new ManualClock();
  const backend = new Socket();
  const written: unknown[] = [];
  backend.write = (chunk: unknown): boolean => {
    written.push(chunk);
    return true;
  };
  const told: unknown[] = [];
  const packet = Buffer.from('startup');
  const abort = awaitFirstReply({
    backend,
    request: { kind, packet },
    clock,
    onReply: ({ bytes }) => told.push(['reply', Buffer.from(bytes)]),
    onDeclined: () => told.push(['declined']),
    onTurnedAway: (refusal, error) => told.push(['turned away', refusal?.sqlState, error?.message]),
    ...changes,
  });
  expect(written).toEqual([packet]);
  /** Nothing of the exchange is left behind. */
  const isLeft = (): boolean =>
    clock.pending() === 0 && EVENTS.every((event) => backend.listenerCount(event) === (event === 'end' ? 1 : 0));
  return { clock, backend, told, abort, isLeft };
}

describe('a reply to the startup message', () => {
  test('is for the client, and the server goes on, because the caller listens at once', () => {
    const { backend, told, isLeft } = start();
    backend.emit('data', GREETING);
    expect(told).toEqual([['reply', GREETING]]);
    expect([backend.isPaused(), backend.destroyed, isLeft()]).toEqual([false, false, true]);
  });

  test('that refuses for now is for the caller, and closes', () => {
    const { backend, told, isLeft } = start();
    backend.emit('data', STARTING);
    expect(told).toEqual([['turned away', '57P03', undefined]]);
    expect([backend.destroyed, isLeft()]).toEqual([true, true]);
  });

  test('that refuses the client is for the client, unless the caller says otherwise', () => {
    const usual = start();
    usual.backend.emit('data', FULL);
    expect(usual.told).toEqual([['reply', FULL]]);
    const asked = start({ isTurnedAway: (sqlState) => sqlState === '53300' });
    asked.backend.emit('data', FULL);
    expect(asked.told).toEqual([['turned away', '53300', undefined]]);
  });

  test('that is an error in pieces is read as one', () => {
    const { backend, told } = start();
    for (const byte of STARTING.subarray(0, -1)) backend.emit('data', Buffer.of(byte));
    expect(told).toEqual([]);
    backend.emit('data', STARTING.subarray(-1));
    expect(told).toEqual([['turned away', '57P03', undefined]]);
  });

  test.each<[string, (backend: Socket) => void, string | undefined]>([
    ['an end', (backend) => backend.emit('end'), undefined],
    [
      'an end in the middle of an error',
      (backend) => void (backend.emit('data', STARTING.subarray(0, 9)), backend.emit('end')),
      undefined,
    ],
    [
      'a close behind an error of the socket',
      (backend) => void (backend.emit('error', new Error('reset')), backend.emit('close')),
      'reset',
    ],
  ])('that is missing because of %s is for the caller', (_, act, error) => {
    const { backend, told, isLeft } = start();
    act(backend);
    expect(told).toEqual([['turned away', undefined, error]]);
    expect([backend.destroyed, isLeft()]).toEqual([true, true]);
  });
});

describe('a server that is slow', () => {
  test('is left to the relay after two seconds, with what it has said', async () => {
    const quiet = start();
    await quiet.clock.advance(1_999);
    expect(quiet.told).toEqual([]);
    await quiet.clock.advance(1);
    expect(quiet.told).toEqual([['reply', Buffer.alloc(0)]]);
    const begun = start({ limitMs: 500 });
    begun.backend.emit('data', STARTING.subarray(0, 9));
    await begun.clock.advance(500);
    expect(begun.told).toEqual([['reply', STARTING.subarray(0, 9)]]);
    expect([begun.backend.destroyed, begun.isLeft()]).toEqual([false, true]);
  });

  test('is closed where the caller wants to know', async () => {
    let silences = 0;
    const { clock, backend, told, isLeft } = start({ onSilent: () => (silences += 1) });
    await clock.advance(2_000);
    expect([silences, told, backend.destroyed, isLeft()]).toEqual([1, [], true, true]);
  });
});

describe('a reply to a request for encryption', () => {
  test('that declines goes on in plain text', () => {
    const { backend, told, isLeft } = start({}, 'negotiation');
    backend.emit('data', Buffer.from('N'));
    expect([told, backend.destroyed, isLeft()]).toEqual([[['declined']], false, true]);
  });

  test('G18: that declines and says more is closed', () => {
    const { backend, told } = start({}, 'negotiation');
    backend.emit('data', Buffer.from('Nx'));
    expect([told, backend.destroyed]).toEqual([[['declined']], true]);
  });

  test.each(['S', 'E'])('%s is for the client', (answer) => {
    const { backend, told } = start({}, 'negotiation');
    backend.emit('data', Buffer.from(answer));
    expect(told).toEqual([['reply', Buffer.from(answer)]]);
  });
});

test('an abort closes, once, and is nothing behind a reply', async () => {
  const early = start();
  early.abort();
  early.abort();
  await early.clock.advance(5_000);
  expect([early.told, early.backend.destroyed, early.isLeft()]).toEqual([[], true, true]);
  const late = start();
  late.backend.emit('data', GREETING);
  late.abort();
  expect(late.backend.destroyed).toBe(false);
});
