// The last message to a client, in whichever protocol it speaks, and the deadline behind it.
import { Socket } from 'node:net';
import { beforeEach, describe, expect, test } from 'vitest';
import { Leaving } from '../../../../src/proxy/ending/leaving.ts';
import type { Farewell } from '../../../../src/proxy/stage.ts';
import { BufferedBytes, StartupReader } from '../../../../src/proxy/startup/startup-reader.ts';
import { recognise } from '../../../../src/wire/startup/startup.ts';
import { aStartup, GSSENC_REQUEST, SSL_REQUEST } from '../../../support/sockets/packets.ts';
import { aSessionHandle } from '../../../support/values/sessions.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';

const MESSAGE = Buffer.from('the last message');
const TLS_HELLO = Buffer.from([0x16, 3, 1, 0, 5, 1, 0, 0, 1, 0]);

let clock: ManualClock;
let client: Socket;
let written: string[];
let calls: string[];

beforeEach(() => {
  [clock, written, calls] = [new ManualClock(), [], []];
  const note = (bytes: unknown): void =>
    void (bytes instanceof Uint8Array && written.push(Buffer.from(bytes).toString('latin1')));
  client = new Socket();
  Object.assign(client, {
    write: (bytes: unknown) => (note(bytes), true),
    end: (bytes: unknown) => (note(bytes), calls.push('end'), client),
    destroy: () => (calls.push('destroyed'), client),
    resume: () => (calls.push('read'), client),
  });
});

function leave(changes: Partial<Farewell> = {}): Leaving {
  const session = aSessionHandle({ cut: (reason, detail) => calls.push(`cut: ${reason}: ${detail}`) });
  const farewell = { reason: 'shutdown', detail: 'the end', client, message: MESSAGE, ...changes } as const;
  const leaving = new Leaving(farewell, clock, session);
  leaving.start();
  return leaving;
}

/** A client without an answer to its startup. `bytes`: all that it has sent. */
function refuse(bytes: Buffer | undefined, { hasEnded = false, isAnswered = false } = {}): void {
  const ignore = { onPacket() {}, onEnd() {}, onClosed() {} };
  const reader = new StartupReader(client, new BufferedBytes(), ignore);
  reader.start();
  if (bytes !== undefined) client.emit('data', bytes);
  if (hasEnded) client.emit('end');
  calls.splice(0);
  const answered = new Set(isAnswered ? (['ssl_request'] as const) : []);
  leave({ startup: { reader, packet: bytes && recognise(bytes), answered } });
}

test('the client reads the message and its end, its bytes are dropped, and its close ends the session', () => {
  const leaving = leave();
  expect([written, calls, leaving.client()]).toEqual([[MESSAGE.toString()], ['end', 'read'], client]);
  client.emit('close');
  expect(calls.slice(2)).toEqual(['cut: shutdown: the end']);
  leaving.left();
  expect(clock.pending()).toBe(0);
});

test('without a message it reads the end', () => {
  leave({ message: undefined });
  expect([written, calls]).toEqual([[], ['end', 'read']]);
});

test('a client that does not close is closed after five seconds', async () => {
  leave();
  await clock.advance(4_999);
  expect(calls).not.toContain('destroyed');
  await clock.advance(1);
  expect([calls.at(-1), clock.pending()]).toEqual(['destroyed', 0]);
});

test('a client may take a minute for the words of its server, and then five seconds', async () => {
  leave({ isLost: true });
  await clock.advance(59_000);
  client.emit('finish');
  await clock.advance(4_999);
  expect(calls).not.toContain('destroyed');
  await clock.advance(1);
  expect([calls.at(-1), clock.pending()]).toEqual(['destroyed', 0]);
  const slow = leave({ isLost: true });
  await clock.advance(60_000);
  expect(calls.filter((call) => call === 'destroyed')).toHaveLength(2);
  slow.left();
});

test('the end of the message extends no deadline of another client', async () => {
  leave();
  await clock.advance(4_000);
  client.emit('finish');
  await clock.advance(1_000);
  expect(calls.at(-1)).toBe('destroyed');
});

describe('a client without an answer to its startup', () => {
  test('reads the message as the answer to its startup packet', () => {
    refuse(aStartup());
    expect(written).toEqual([MESSAGE.toString()]);
  });

  test.each([
    ['TLS', SSL_REQUEST],
    ['GSS', GSSENC_REQUEST],
  ])('that requests %s reads a no first, once', (_, request) => {
    refuse(request);
    expect([written, calls]).toEqual([['N'], ['read']]);
    client.emit('data', request);
    expect([written, calls]).toEqual([
      ['N', MESSAGE.toString()],
      ['read', 'end', 'read'],
    ]);
  });

  test('that requests both reads a no for each', () => {
    refuse(Buffer.concat([GSSENC_REQUEST, SSL_REQUEST, aStartup()]));
    expect(written).toEqual(['N', 'N', MESSAGE.toString()]);
  });

  test('that has the answer to its request already reads the message at once', () => {
    refuse(SSL_REQUEST, { isAnswered: true });
    expect(written).toEqual([MESSAGE.toString()]);
  });

  test('that has sent nothing yet reads the message at once', () => {
    refuse(undefined);
    expect(written).toEqual([MESSAGE.toString()]);
  });

  test('that sends nothing more reads the message, behind the no or instead of it', () => {
    refuse(SSL_REQUEST);
    client.emit('end');
    expect(written.splice(0)).toEqual(['N', MESSAGE.toString()]);
    refuse(GSSENC_REQUEST, { hasEnded: true });
    expect(written).toEqual([MESSAGE.toString()]);
  });

  test('that leaves meanwhile ends its session', () => {
    refuse(SSL_REQUEST);
    client.emit('close');
    expect(calls.at(-1)).toBe('cut: shutdown: the end');
  });

  test('whose startup is read by nobody any more after the message', () => {
    refuse(aStartup());
    client.emit('data', aStartup());
    client.emit('end');
    expect([written, client.listenerCount('data')]).toEqual([[MESSAGE.toString()], 0]);
  });

  test.each([
    ['TLS at once reads an alert', TLS_HELLO, '\u0015\u0003'],
    ['HTTP reads that it is the wrong port', Buffer.from('GET / HTTP/1.1\r\n\r\n'), 'HTTP/1.1'],
  ])('that speaks %s', (_, bytes, start) => {
    refuse(bytes);
    expect([written.length, written[0]?.startsWith(start)]).toEqual([1, true]);
  });
});
