import { Socket } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Silence } from '../../../../src/proxy/options.ts';
import { TcpTimeouts } from '../../../../src/proxy/ending/tcp-timeouts.ts';
import { LAB_POLICY } from '../../../support/labs/proxy-lab.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';

const CLIENT = '10.0.0.1 6432 10.0.0.2 50000';
const BACKEND = '10.0.0.1 50001 10.0.0.3 5432';

let clock: ManualClock;
let table: Record<string, Silence>;
let ids: readonly number[];
let readings: number;
let failures: string[];
let limits: { client: number | undefined; backend: number | undefined };
let timeouts: TcpTimeouts;

function aSocket(name: string, key: string): Socket {
  const socket = new Socket().on('error', ({ message, code }: NodeJS.ErrnoException) =>
    failures.push(`${name}: ${code} ${message}`),
  );
  const [localAddress, localPort, remoteAddress, remotePort] = key.split(' ');
  const at = { localAddress, localPort: Number(localPort), remoteAddress, remotePort: Number(remotePort) };
  for (const [field, value] of Object.entries(at)) Object.defineProperty(socket, field, { get: () => value });
  return socket;
}

beforeEach(() => {
  clock = new ManualClock();
  [table, readings, failures, limits] = [{}, 0, [], { client: 60_000, backend: 60_000 }];
  const sockets = { client: aSocket('client', CLIENT), backend: aSocket('backend', BACKEND) };
  ids = [1];
  timeouts = new TcpTimeouts({
    clock,
    registry: { all: () => ids.map((id) => ({ id, sockets: () => sockets })) },
    policy: () => ({
      client: { ...LAB_POLICY.client, tcpUserTimeoutMs: limits.client },
      backend: { ...LAB_POLICY.backend, tcpUserTimeoutMs: limits.backend },
    }),
    read: () => {
      readings += 1;
      return Promise.resolve(new Map(Object.entries(table)));
    },
  });
  timeouts.review();
});

afterEach(() => {
  timeouts.stop();
  expect(clock.pending()).toBe(0);
  vi.restoreAllMocks();
});

test('a client that answers nothing for the limit is ended, and its server is not', async () => {
  await clock.advance(10_000);
  table = { [CLIENT]: { bytes: 5, attempts: 3 } };
  await clock.advance(60_000);
  expect(failures).toEqual([]);
  table = { [CLIENT]: { bytes: 9, attempts: 9 } };
  await clock.advance(10_000);
  expect(failures).toEqual(['client: ETIMEDOUT no acknowledgement']);
});

test('each side has its own limit', async () => {
  limits = { client: undefined, backend: 30_000 };
  timeouts.review();
  table = { [CLIENT]: { bytes: 5, attempts: 3 }, [BACKEND]: { bytes: 5, attempts: 3 } };
  await clock.advance(600_000);
  expect(failures).toEqual(['backend: ETIMEDOUT no acknowledgement']);
});

test.each([
  ['fewer attempts', { bytes: 5, attempts: 2 }],
  ['fewer bytes', { bytes: 4, attempts: 3 }],
])('%s than before: the peer has answered in between', async (_, after) => {
  table = { [CLIENT]: { bytes: 5, attempts: 3 } };
  await clock.advance(60_000);
  table = { [CLIENT]: after };
  await clock.advance(60_000);
  expect(failures).toEqual([]);
  await clock.advance(10_000);
  expect(failures).toHaveLength(1);
});

test('a process that stood still has seen nothing of that time', async () => {
  table = { [CLIENT]: { bytes: 5, attempts: 3 } };
  await clock.advance(10_000);
  clock.stall(600_000);
  await clock.advance(0);
  expect(failures).toEqual([]);
});

test('without a limit nothing is read, and a reload brings one', async () => {
  limits = { client: undefined, backend: undefined };
  timeouts.review();
  await clock.advance(600_000);
  expect([readings, clock.pending()]).toEqual([0, 0]);
  limits = { client: 5_000, backend: undefined };
  timeouts.review();
  await clock.advance(10_000);
  expect(readings).toBe(9);
});

test('where all sessions come and go, nothing is read; a session that stays has it read', async () => {
  for (const id of [2, 4, 6]) {
    ids = [id, id + 1];
    await clock.advance(10_000);
  }
  expect(readings).toBe(0);
  ids = [7, 8];
  await clock.advance(10_000);
  expect(readings).toBe(1);
  ids = [];
  await clock.advance(20_000);
  expect(readings).toBe(1);
});
