// No client waits for an answer longer than the sum of the configured limits, for any change of members and routes.
import { afterEach, expect, test } from 'vitest';
import type { DialResult } from '../../../src/proxy/server.ts';
import { ManualClock } from '../../support/waiting/manual-clock.ts';
import { SSL_REQUEST, aStartup } from '../../support/sockets/packets.ts';
import { startProxyLab } from '../../support/labs/proxy-lab.ts';
import type { ProxyLab } from '../../support/labs/proxy-lab.ts';
import { connectRaw } from '../../support/sockets/raw-client.ts';
import type { RawClient } from '../../support/sockets/raw-client.ts';
import type { PoolPicture } from '../../support/values/tables.ts';
import { until } from '../../support/waiting/until.ts';

const STARTUP_MS = 10_000;
const CONNECT_MS = 3000;
const ATTEMPTS = 3;
const MAX_WAIT_MS = 30_000;
/** Each attempt requests fresh evidence and then connects. Attempts run before and after the wait. */
const BOUND_MS = STARTUP_MS + MAX_WAIT_MS + 2 * ATTEMPTS * 2 * CONNECT_MS;
const STEP_MS = 500;

const OPEN: readonly PoolPicture[] = [1, 2].map((port) => ({ open: { [`pg-${port}`]: { host: '127.0.0.1', port } } }));
const HOLD: PoolPicture = {};

const TIMES_OUT: DialResult = { kind: 'failed', outcome: 'timeout', isLocalFault: false, detail: 'no connection' };

/** The route of the pool and the bytes of the client, by the time since its connect. */
interface Script {
  readonly route: (sinceMs: number) => PoolPicture | undefined;
  readonly says: (client: RawClient, sinceMs: number) => void;
}

function atOnce(client: RawClient, sinceMs: number): void {
  if (sinceMs === 0) client.socket.write(aStartup());
}

/** One byte each second. */
function dripping(client: RawClient, sinceMs: number): void {
  const next = aStartup().subarray(sinceMs / 1000, sinceMs / 1000 + 1);
  if (Number.isInteger(sinceMs / 1000)) client.socket.write(next);
}

/** The last byte comes just before the deadline. */
function late(client: RawClient, sinceMs: number): void {
  if (sinceMs === 0) client.socket.write(aStartup().subarray(0, -1));
  if (sinceMs === STARTUP_MS - STEP_MS) client.socket.write(aStartup().subarray(-1));
}

function turns(everyMs: number, ...pictures: readonly PoolPicture[]): Script['route'] {
  return (sinceMs) => (sinceMs % everyMs === 0 ? pictures[(sinceMs / everyMs) % pictures.length] : undefined);
}

const [first = HOLD, second = HOLD] = OPEN;

const SCRIPTS: readonly (readonly [string, Script])[] = [
  ['a silent client', { route: () => undefined, says: () => {} }],
  ['a client that drips', { route: () => undefined, says: dripping }],
  [
    'a client that requests TLS and then is silent',
    { route: () => undefined, says: (client, sinceMs) => sinceMs === 0 && client.socket.write(SSL_REQUEST) },
  ],
  ['no route', { route: () => undefined, says: atOnce }],
  ['a late client without a route', { route: () => undefined, says: late }],
  ['a member that accepts no connect', { route: turns(1e9, first), says: late }],
  [
    'a route that opens and closes, to a member that accepts no connect',
    { route: turns(7000, first, HOLD), says: late },
  ],
  [
    'a route that opens just before the wait is over',
    { route: turns(MAX_WAIT_MS - STEP_MS, HOLD, first), says: atOnce },
  ],
  ['a primary that changes faster than a connect takes', { route: turns(2500, first, second), says: late }],
];

let lab: ProxyLab;
let clock: ManualClock;

afterEach(async () => {
  lab.proxy.close();
  await until('no timer left', () => clock.pending() === 0);
});

test.each(SCRIPTS)('G10: %s: an answer within the limits', async (_, { route, says }) => {
  clock = new ManualClock();
  lab = await startProxyLab({
    clock,
    client: { startupTimeoutMs: STARTUP_MS },
    backend: { connectTimeoutMs: CONNECT_MS, attemptDelayMs: undefined, connectAttempts: ATTEMPTS },
    hold: { clientTimeoutMs: MAX_WAIT_MS, outageTimeoutMs: 10 * MAX_WAIT_MS },
    // Probes and connects never get an answer.
    freshen: () => new Promise(() => {}),
    dial: (_address, { clock: own, timeoutMs }, onResult) => own.schedule(timeoutMs, () => onResult(TIMES_OUT)),
  });
  const client = await connectRaw(lab.address('write'));
  await until('the accept', () => lab.events.some(({ kind }) => kind === 'client_accepted'));
  for (let sinceMs = 0; sinceMs <= BOUND_MS; sinceMs += STEP_MS) {
    const picture = route(sinceMs);
    if (picture !== undefined) lab.decide({ write: picture });
    says(client, sinceMs);
    await clock.advance(STEP_MS);
  }
  await until('an answer', () => client.received().length > 0 || client.isClosed);
  expect(lab.proxy.counts().get('write')?.states.holding).toBe(0);
});
