import { Socket } from 'node:net';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Lane, Taker } from '../../../../src/proxy/relay/stream-pipe.ts';
import { Relay } from '../../../../src/proxy/relay/relay.ts';
import type { RelayEnding, RelayInputs } from '../../../../src/proxy/relay/relay.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';
import { until } from '../../../support/waiting/until.ts';

/** Says what it was asked to do. */
class FakeLane implements Lane {
  readonly calls: string[] = [];
  readonly sent: string[] = [];
  taker: Taker | undefined;

  hold(): void {}

  release(): void {}

  flow(taker: Taker): void {
    this.taker = taker;
  }

  send(bytes: Uint8Array): void {
    this.sent.push(Buffer.from(bytes).toString());
  }

  flush(): void {
    this.calls.push('flush');
  }

  whenFlushed(end: () => void): void {
    this.calls.push('whenFlushed');
    end();
  }

  discard(): void {
    this.calls.push('discard');
  }

  closed(): void {
    this.calls.push('closed');
  }

  leave(): void {
    this.calls.push('leave');
  }
}

const UNREAD_MS = 60_000;
const HALF_OPEN_MS = 10_000;

let clock: ManualClock;
let client: Socket;
let backend: Socket;
let lanes: { toBackend: FakeLane; toClient: FakeLane };
let endings: RelayEnding[];

beforeEach(() => {
  clock = new ManualClock();
  // Never connected: ends and closes are played.
  [client, backend] = [new Socket({ allowHalfOpen: true }), new Socket({ allowHalfOpen: true })];
  lanes = { toBackend: new FakeLane(), toClient: new FakeLane() };
  endings = [];
});

function start(inputs: Partial<RelayInputs> = {}): Relay {
  const none = { toBackendBytes: 0, toClientBytes: 0 };
  const relay = new Relay({
    client,
    backend,
    packet: Buffer.from('startup'),
    opening: new Uint8Array(0),
    hasClientEnded: false,
    taps: undefined,
    judge: () => {},
    traffic: none,
    poolTraffic: { ...none },
    lanes,
    clock,
    onBackendEnded: () => false,
    onEnded: (ending) => endings.push(ending),
    ...inputs,
  });
  relay.start();
  return relay;
}

test('at a parting the client is told first what its server had said', () => {
  start().stop();
  expect(lanes.toClient.calls).toEqual(['flush', 'leave']);
  expect(lanes.toBackend.calls).toEqual(['leave']);
});

describe('after its server’s end', () => {
  test('a client that still speaks lives on, and is ended when it has been silent for a while', async () => {
    start();
    backend.emit('end');
    await until('its own end', () => client.writableFinished);
    await clock.advance(HALF_OPEN_MS - 1);
    lanes.toBackend.taker?.take(Buffer.from('still here'));
    await clock.advance(1);
    await clock.advance(HALF_OPEN_MS - 1);
    expect([client.destroyed, backend.destroyed]).toEqual([false, false]);
    await clock.advance(1);
    expect([client.destroyed, backend.destroyed]).toEqual([true, true]);
    await until('the end', () => endings.length > 0);
    expect(endings).toEqual(['backend_closed']);
    expect(clock.pending()).toBe(0);
  });
});

describe('the first close ends the other side', () => {
  test.each([
    ['client', 'client_reset'],
    ['backend', 'backend_reset'],
  ] as const)('at once when it came without an end or an error: of the %s', async (side, ending) => {
    start();
    (side === 'client' ? client : backend).destroy();
    await until('the end', () => endings.length > 0);
    expect(endings).toEqual([ending]);
    expect([client.destroyed, backend.destroyed]).toEqual([true, true]);
    expect(clock.pending()).toBe(0);
  });

  test.each(['client', 'backend'] as const)('within a minute when it came in order: of the %s', async (side) => {
    start();
    const [first, second] = side === 'client' ? [client, backend] : [backend, client];
    first.push(null);
    first.resume();
    await until('its end', () => first.readableEnded);
    first.destroy();
    await until('its close', () => first.closed);
    expect(second.destroyed).toBe(false);
    await clock.advance(UNREAD_MS);
    await until('the end', () => endings.length > 0);
    expect(endings).toEqual([`${side}_closed`]);
    expect(clock.pending()).toBe(0);
  });

  test('and lanes are told when both have closed', async () => {
    start();
    client.destroy();
    await until('the end', () => endings.length > 0);
    expect(lanes.toClient.calls.at(-1)).toBe('closed');
    expect(lanes.toBackend.calls.at(-1)).toBe('closed');
  });
});

test('nothing that the client said goes on once judging has stopped the relay', () => {
  let isOver = false;
  const relay: Relay = start({
    judge: () => {
      if (isOver) relay.stop();
    },
  });
  const { taker } = lanes.toBackend;
  taker?.take(Buffer.from('before'));
  isOver = true;
  taker?.take(Buffer.from('after'));
  expect(lanes.toBackend.sent).toEqual(['startup', 'before']);
});
