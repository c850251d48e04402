import { Socket } from 'node:net';
import { beforeEach, expect, test } from 'vitest';
import { Keepalives } from '../../../../src/proxy/ending/keepalives.ts';
import { markLocal } from '../../../../src/proxy/socket.ts';
import { LAB_POLICY } from '../../../support/labs/proxy-lab.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';

interface Sockets {
  readonly client: Socket;
  readonly backend: Socket | undefined;
}

let clock: ManualClock;
let calls: string[];
let sessions: Sockets[];
let idle: { client: number | undefined; backend: number | undefined };
let keepalives: Keepalives;

beforeEach(() => {
  [clock, calls, sessions, idle] = [new ManualClock(), [], [], { client: 30_000, backend: 20_000 }];
  keepalives = new Keepalives({
    clock,
    registry: { all: () => sessions.map((sockets) => ({ sockets: () => sockets })) },
    policy: () => ({
      client: { ...LAB_POLICY.client, tcpKeepalivesIdleMs: idle.client },
      backend: { ...LAB_POLICY.backend, tcpKeepalivesIdleMs: idle.backend },
    }),
  });
  keepalives.review();
});

function aSocket(name: string): Socket {
  const socket = new Socket();
  return Object.assign(socket, {
    setKeepAlive(isOn: boolean, idleMs: number) {
      calls.push(`${name}: ${isOn} ${idleMs}`);
      return socket;
    },
  });
}

test('a session that stays for two seconds is asked for signs of life at both ends', async () => {
  sessions = [{ client: aSocket('client'), backend: aSocket('server') }];
  await clock.advance(1_999);
  expect(calls).toEqual([]);
  await clock.advance(1);
  expect(calls).toEqual(['client: true 30000', 'server: true 20000']);
});

test('a session that gets its server later, and new durations, come with the next look', async () => {
  const client = aSocket('client');
  sessions = [{ client, backend: undefined }];
  await clock.advance(2_000);
  expect(calls.splice(0)).toEqual(['client: true 30000']);
  sessions = [{ client, backend: aSocket('server') }];
  idle = { client: undefined, backend: 5_000 };
  await clock.advance(2_000);
  expect(calls).toEqual(['server: true 5000']);
});

test('a client on this host cannot vanish', async () => {
  const client = aSocket('client');
  markLocal(client);
  sessions = [{ client, backend: undefined }];
  await clock.advance(2_000);
  expect(calls).toEqual([]);
});

test('a stop ends the looks', () => {
  keepalives.stop();
  expect(clock.pending()).toBe(0);
});

test('with keepalive off nothing looks; a reload that turns it on reaches the sessions that are there', async () => {
  sessions = [{ client: aSocket('client'), backend: aSocket('server') }];
  idle = { client: undefined, backend: undefined };
  keepalives.review();
  expect(clock.pending()).toBe(0);
  idle = { client: undefined, backend: 20_000 };
  keepalives.review();
  await clock.advance(2_000);
  expect(calls).toEqual(['server: true 20000']);
});
