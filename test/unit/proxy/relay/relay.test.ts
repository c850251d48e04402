import { Socket } from 'node:net';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Pipe, Receiver } from '../../../../src/proxy/relay/stream-pipe.ts';
import { Relay } from '../../../../src/proxy/relay/relay.ts';
import type { RelayEnding } from '../../../../src/model/close-reason.ts';
import type { RelayOptions } from '../../../../src/proxy/relay/relay.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';
import { until } from '../../../support/waiting/until.ts';

/** Records its calls. */
class FakePipe implements Pipe {
  readonly calls: string[] = [];
  readonly sent: string[] = [];
  receiver: Receiver | undefined;

  pause(): void {}

  resume(): void {}

  start(receiver: Receiver): void {
    this.receiver = receiver;
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

  detach(): void {
    this.calls.push('detach');
  }
}

const UNREAD_MS = 60_000;
const HALF_OPEN_MS = 10_000;

let clock: ManualClock;
let client: Socket;
let backend: Socket;
let pipes: { toBackend: FakePipe; toClient: FakePipe };
let endings: RelayEnding[];

beforeEach(() => {
  clock = new ManualClock();
  // The socket never connects: the test triggers ends and closes.
  [client, backend] = [new Socket({ allowHalfOpen: true }), new Socket({ allowHalfOpen: true })];
  pipes = { toBackend: new FakePipe(), toClient: new FakePipe() };
  endings = [];
});

function start(inputs: Partial<RelayOptions> = {}): Relay {
  const none = { toBackendBytes: 0, toClientBytes: 0 };
  const relay = new Relay({
    client,
    backend,
    taps: undefined,
    gate: () => {},
    traffic: none,
    poolTraffic: { ...none },
    pipes,
    clock,
    isBackendLeaving: () => false,
    onBackendEnded: () => false,
    onEnded: (ending) => endings.push(ending),
    ...inputs,
  });
  relay.start({ packet: Buffer.from('startup'), bytes: new Uint8Array(0), hasEnded: false });
  return relay;
}

test('a stopped relay first sends the client the bytes from its server', () => {
  start().stop();
  expect(pipes.toClient.calls).toEqual(['flush', 'detach']);
  expect(pipes.toBackend.calls).toEqual(['detach']);
});

describe('after its server’s end', () => {
  test('a client that still sends stays, and is ended after a silence', async () => {
    start();
    backend.emit('end');
    await until('its own end', () => client.writableFinished);
    await clock.advance(HALF_OPEN_MS - 1);
    pipes.toBackend.receiver?.receive(Buffer.from('still here'));
    await clock.advance(1);
    await clock.advance(HALF_OPEN_MS - 1);
    expect([client.destroyed, backend.destroyed]).toEqual([false, false]);
    await clock.advance(1);
    expect([client.destroyed, backend.destroyed]).toEqual([true, true]);
    await until('the end', () => endings.length > 0);
    expect(endings).toEqual(['backend_closed']);
    expect(clock.pending()).toBe(0);
  });

  test('a client that has half-closed is closed when it has all bytes, or after its limit', async () => {
    const flushed: (() => void)[] = [];
    pipes.toClient.whenFlushed = (end) => void flushed.push(end);
    start();
    client.push(null);
    client.resume();
    await until('the end of the client', () => client.readableEnded);
    backend.emit('end');
    await clock.advance(UNREAD_MS - 1);
    expect([client.destroyed, client.writableEnded]).toEqual([false, false]);
    flushed.at(-1)?.();
    expect([client.destroyed, client.writableEnded]).toEqual([true, false]);
    backend.destroy();
    await until('the end', () => endings.length > 0);
    expect(endings).toEqual(['client_closed']);
    expect(clock.pending()).toBe(0);
  });

  test('sockets that are both destroyed are waited for without a limit', async () => {
    start();
    client.push(null);
    client.resume();
    await until('the end of the client', () => client.readableEnded);
    const pending: number[] = [];
    client.once('close', () => pending.push(clock.pending()));
    backend.emit('end');
    backend.destroy();
    await until('the end', () => endings.length > 0);
    expect(pending).toEqual([0]);
  });

  test('a client that has half-closed and reads nothing is ended after a silence', async () => {
    pipes.toClient.whenFlushed = () => {};
    start();
    client.push(null);
    client.resume();
    await until('the end of the client', () => client.readableEnded);
    backend.emit('end');
    await clock.advance(UNREAD_MS);
    expect([client.destroyed, backend.destroyed]).toEqual([true, true]);
  });
});

describe('the first close ends the other side', () => {
  test.each([
    ['client', 'client_reset'],
    ['backend', 'backend_reset'],
  ] as const)('at once if it came without an end or an error: of the %s', async (side, ending) => {
    start();
    (side === 'client' ? client : backend).destroy();
    await until('the end', () => endings.length > 0);
    expect(endings).toEqual([ending]);
    expect([client.destroyed, backend.destroyed]).toEqual([true, true]);
    expect(clock.pending()).toBe(0);
  });

  test.each(['client', 'backend'] as const)('within a minute if it came in order: of the %s', async (side) => {
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

  test('and the pipes get it when both have closed', async () => {
    start();
    client.destroy();
    await until('the end', () => endings.length > 0);
    expect(pipes.toClient.calls.at(-1)).toBe('closed');
    expect(pipes.toBackend.calls.at(-1)).toBe('closed');
  });
});

test('no client bytes go on after the gate stopped the relay', () => {
  let isOver = false;
  const relay: Relay = start({
    gate: () => {
      if (isOver) relay.stop();
    },
  });
  const { receiver } = pipes.toBackend;
  receiver?.receive(Buffer.from('before'));
  isOver = true;
  receiver?.receive(Buffer.from('after'));
  expect(pipes.toBackend.sent).toEqual(['startup', 'before']);
});
