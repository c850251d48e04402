// Each step of a relay: its begin, the end and the failure of either side, and its stop.
import { Socket } from 'node:net';
import { beforeEach, describe, expect, test } from 'vitest';
import type { RelayEnding } from '../../../../src/model/close-reason.ts';
import { nothing } from '../../../../src/model/once.ts';
import { Relay, type RelayOpening, type RelayOptions } from '../../../../src/proxy/relay/relay.ts';
import type { Pipe, Receiver } from '../../../../src/proxy/relay/stream-pipe.ts';
import { QUERY } from '../../../support/sockets/messages.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';

const EVENTS = ['end', 'error', 'close'];
const VANISHED = Object.assign(new Error('no acknowledgement'), { code: 'ETIMEDOUT' });

let clock: ManualClock;
let calls: string[];
let receivers: Map<string, Receiver>;
let endings: RelayEnding[];
let client: Socket;
let backend: Socket;
let traffic: { toBackendBytes: number; toClientBytes: number };

beforeEach(() => {
  [clock, calls, receivers, endings] = [new ManualClock(), [], new Map(), []];
  [client, backend] = [aSocket('client'), aSocket('server')];
  traffic = { toBackendBytes: 0, toClientBytes: 0 };
});

function aSocket(side: string): Socket {
  const socket = new Socket({ allowHalfOpen: true });
  const note = (call: string) => (): Socket => {
    calls.push(`${side} ${call}`);
    return socket;
  };
  const [destroy, destroySoon, resetAndDestroy] = ['destroyed', 'destroyed soon', 'reset'].map(note);
  return Object.assign(socket, { destroy, destroySoon, resetAndDestroy, end: note('ended') });
}

/** To this side. */
function aPipe(side: string): Pipe {
  return {
    start: (receiver) => void receivers.set(side, receiver),
    send: (bytes) => void calls.push(`${side} < ${Buffer.from(bytes).toString('latin1')}`),
    pause() {},
    resume() {},
    flush() {},
    whenFlushed: (end) => end(),
    discard: () => void calls.push(`nothing more to the ${side}`),
    closed() {},
    detach: () => void calls.push(`${side} is let go`),
  };
}

function aRelay(options: Partial<RelayOptions> = {}): Relay {
  return new Relay({
    client,
    backend,
    taps: undefined,
    gate: () => undefined,
    traffic,
    poolTraffic: { ...traffic },
    pipes: { toBackend: aPipe('server'), toClient: aPipe('client') },
    clock,
    isBackendLeaving: () => false,
    onBackendEnded: () => false,
    onEnded: (ending) => endings.push(ending),
    ...options,
  });
}

function start(opening: Partial<RelayOpening> = {}, options: Partial<RelayOptions> = {}): Relay {
  const relay = aRelay(options);
  relay.start({ packet: Buffer.from('startup'), bytes: new Uint8Array(0), hasEnded: false, ...opening });
  return relay;
}

function listeners(socket: Socket): number {
  return EVENTS.reduce((sum, event) => sum + socket.listenerCount(event), 0);
}

describe('a relay begins', () => {
  test('with the startup packet, and the bytes behind it', () => {
    start({ bytes: Buffer.from('more') });
    expect([calls, traffic]).toEqual([['server < startup', 'server < more'], { toBackendBytes: 11, toClientBytes: 0 }]);
    expect(receivers.size).toBe(2);
  });

  test('with the answer to a packet that was sent before: it counts all the same', () => {
    start({ firstReply: { bytes: Buffer.from('reply') } });
    expect([calls, traffic]).toEqual([['client < reply'], { toBackendBytes: 7, toClientBytes: 5 }]);
  });

  test('without a packet, and with no answer yet', () => {
    start({ packet: undefined, firstReply: { bytes: new Uint8Array(0) } });
    start({ packet: undefined });
    expect([calls, traffic.toBackendBytes]).toEqual([[], 0]);
  });

  test('with a client that has half-closed', () => {
    expect(start({ hasEnded: true }).isWhole()).toBe(false);
    expect(calls).toEqual(['server < startup', 'server ended']);
  });

  test('and is stopped by the answer: the client’s bytes go to nobody', () => {
    const taps = { fromClient: () => undefined, fromBackend: () => true, passedToClient: () => relay.stop() };
    const relay = aRelay({ taps });
    relay.start({
      packet: Buffer.from('startup'),
      bytes: Buffer.from('more'),
      firstReply: { bytes: Buffer.from('reply') },
      hasEnded: true,
    });
    expect(calls).toEqual(['client < reply', 'client is let go', 'server is let go']);
  });
});

test('words of ours go to the server past the counters, and a cancelled statement has its answer', () => {
  const relay = start({ packet: undefined }, { gate: () => new Promise(() => {}) });
  relay.tellBackend(Buffer.from('ours'));
  expect(relay.cancelWaiting()).toBe(false);
  receivers.get('server')?.receive(QUERY);
  expect(relay.cancelWaiting(Buffer.from('cancelled'))).toBe(true);
  expect(calls).toEqual(['server < ours', 'client < cancelledZ\0\0\0\x05I']);
  expect(traffic.toBackendBytes).toBe(0);
});

describe('a stop', () => {
  test('gives both sockets back, with the bytes that wait, once', () => {
    const before = listeners(new Socket());
    const relay = start({ packet: undefined }, { gate: () => new Promise(() => {}) });
    expect([relay.isWhole(), listeners(client) > before, listeners(backend) > before]).toEqual([true, true, true]);
    receivers.get('server')?.receive(Buffer.from('waits'));
    expect(Buffer.from(relay.stop()?.bytes() ?? []).toString()).toBe('waits');
    expect([relay.isWhole(), listeners(client), listeners(backend)]).toEqual([false, before, before]);
    expect([relay.stop(), calls]).toEqual([undefined, ['client is let go', 'server is let go']]);
  });

  test('ends the watch over a side that has ended', () => {
    const relay = start();
    backend.emit('end');
    expect(clock.pending()).toBe(1);
    relay.stop();
    expect(clock.pending()).toBe(0);
  });

  test.each<[string, (relay: Relay) => void]>([
    ['a stop', (relay) => relay.stop()],
    ['the close of both', () => [backend, client].forEach((socket) => socket.emit('close'))],
  ])('or %s: nothing is watched behind it', (_, act) => {
    let hasEnded = nothing;
    client.end = (run?: unknown): Socket => {
      if (typeof run === 'function') hasEnded = () => void Reflect.apply(run, undefined, []);
      return client;
    };
    const relay = start({ packet: undefined });
    backend.emit('end');
    Object.defineProperty(backend, 'readableEnded', { value: true });
    act(relay);
    hasEnded();
    expect(clock.pending()).toBe(0);
  });

  test('of the caller at the end of the server is all that happens', () => {
    start({}, { onBackendEnded: () => true });
    calls.splice(0);
    backend.emit('end');
    expect([calls, clock.pending()]).toEqual([[], 0]);
  });
});

test('bytes that wait go nowhere when both sides have closed', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  for (const socket of [client, backend]) Object.defineProperty(socket, 'readableEnded', { value: true });
  start({ packet: undefined }, { gate: () => promise });
  receivers.get('server')?.receive(Buffer.from('waits'));
  for (const socket of [client, backend]) socket.emit('close');
  resolve();
  await promise;
  expect(calls).toEqual([]);
});

describe('the end of the client', () => {
  test('is passed on behind its bytes', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    let wait: Promise<void> | undefined = promise;
    const relay = start({ packet: undefined }, { gate: () => wait });
    receivers.get('server')?.receive(Buffer.from('waits'));
    client.emit('end');
    expect([calls, relay.hasAllOfClient()]).toEqual([[], false]);
    wait = undefined;
    resolve();
    await promise;
    expect([calls, relay.hasAllOfClient()]).toEqual([['server < waits', 'server ended'], true]);
  });

  test('is not passed on to a server that leaves by itself, which is closed at its end', async () => {
    const relay = start({ packet: undefined }, { isBackendLeaving: () => true });
    client.emit('end');
    await clock.advance(999);
    expect([calls, relay.hasAllOfClient()]).toEqual([[], true]);
    backend.emit('end');
    expect(calls).toEqual(['server destroyed', 'client ended']);
    for (const socket of [backend, client]) socket.emit('close');
    expect([endings, clock.pending()]).toEqual([['client_closed'], 0]);
  });

  test('is passed on after a second to a server that should leave by itself and does not', async () => {
    start({ packet: undefined }, { isBackendLeaving: () => true });
    client.emit('end');
    await clock.advance(1_000);
    expect(calls).toEqual(['server ended']);
  });

  test('is passed on at once to a server that has left before', () => {
    Object.defineProperty(backend, 'readableEnded', { value: true });
    start({ packet: undefined }, { isBackendLeaving: () => true });
    backend.emit('end');
    client.emit('end');
    expect(calls).toEqual(['client ended', 'server ended']);
  });

  test('is passed on, too, when the client closes while its server should leave', () => {
    Object.defineProperty(client, 'readableEnded', { value: true });
    start({ packet: undefined }, { isBackendLeaving: () => true });
    client.emit('end');
    client.emit('close');
    expect(calls).toEqual(['server ended']);
  });

  test('leaves a server alone that is given back before it has left', () => {
    const relay = start({ packet: undefined }, { isBackendLeaving: () => true });
    client.emit('end');
    relay.stop();
    expect([calls, clock.pending()]).toEqual([['client is let go', 'server is let go'], 0]);
  });

  test('leaves the server time to answer, whose end then ends both', () => {
    start({ packet: undefined }, { onBackendEnded: () => expect.unreachable('the client was first') });
    client.emit('end');
    backend.emit('end');
    expect([calls, clock.pending()]).toEqual([['server ended', 'client ended'], 1]);
  });
});

test('a client that does not read the last bytes of its server has a minute', async () => {
  start({ packet: undefined });
  backend.emit('end');
  expect(calls.splice(0)).toEqual(['client ended']);
  await clock.advance(59_999);
  expect(calls).toEqual([]);
  await clock.advance(1);
  expect(calls).toEqual(['server destroyed', 'client destroyed']);
});

describe('a failure', () => {
  test.each([
    [new Error('reset'), 'client_reset'],
    [VANISHED, 'client_tcp_timeout'],
  ] as const)('of the client resets the server: %s', (error, ending) => {
    start({ packet: undefined });
    client.emit('error', error);
    receivers.get('server')?.receive(Buffer.from('late'));
    expect(calls).toEqual(['server reset']);
    for (const socket of [client, backend]) socket.emit('close');
    expect(endings).toEqual([ending]);
  });

  test.each([
    [new Error('reset'), 'backend_reset'],
    [VANISHED, 'backend_tcp_timeout'],
  ] as const)('of the server: the client has five seconds to read what was sent: %s', async (error, ending) => {
    const told: string[] = [];
    start({ packet: undefined }, { onBackendEnded: (how) => told.push(how) === 0 });
    backend.emit('error', error);
    receivers.get('server')?.receive(Buffer.from('late'));
    expect([told, calls.splice(0)]).toEqual([[ending], ['nothing more to the server', 'client destroyed soon']]);
    await clock.advance(4_999);
    expect(calls).toEqual([]);
    await clock.advance(1);
    expect(calls).toEqual(['client destroyed']);
    for (const socket of [backend, client]) socket.emit('close');
    expect([endings, clock.pending()]).toEqual([[ending], 0]);
  });

  test('of a server that has ended before has one deadline', () => {
    start({ packet: undefined });
    backend.emit('end');
    backend.emit('error', new Error('reset'));
    expect(clock.pending()).toBe(1);
  });
});
