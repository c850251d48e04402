// Scenario 42: all clients reconnect at once after a failover, with the default limits.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startFakeBackend } from '../../../support/fakes/fake-backend.ts';
import type { FakeBackend } from '../../../support/fakes/fake-backend.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';
import { aStartup, errorFields } from '../../../support/sockets/packets.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { ProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { RawClient } from '../../../support/sockets/raw-client.ts';
import { until } from '../../../support/waiting/until.ts';

const CLIENTS = 5_000;
const HELD = 1_000;
const PER_SECOND = 200;
const STEP_MS = 50;
const PER_STEP = (PER_SECOND * STEP_MS) / 1_000;
const PATIENCE_MS = 30_000;
const PATIENCE = { timeout: 2 * PATIENCE_MS };

let lab: ProxyLab;
let primary: FakeBackend;
let clock: ManualClock;

beforeEach(async () => {
  primary = await startFakeBackend('echo');
  clock = new ManualClock();
  lab = await startProxyLab({
    clock,
    client: { maxSessions: CLIENTS },
    hold: { maxSessions: HELD, maxConnectsPerSecond: PER_SECOND },
  });
});

afterEach(() => lab.end(primary));

const states = () => lab.proxy.counts().get('write')?.states;
const released = (): number => lab.events.filter(({ kind }) => kind === 'hold_ended').length;

test(
  'scenario 42: clients wait up to the limit, the rest reads 53300; waiting clients are released at the rate',
  PATIENCE,
  async () => {
    const clients: RawClient[] = [];
    while (clients.length < CLIENTS)
      clients.push(...(await Promise.all(Array.from({ length: 250 }, () => lab.connect('write')))));
    const refused = await until(
      'an answer to the rest',
      () => {
        const answered = clients.filter((client) => client.hasEnded);
        return answered.length === CLIENTS - HELD && answered;
      },
      PATIENCE_MS,
    );
    const codes = refused.map((client) => errorFields(client.received())?.['C']);
    expect(new Set(codes)).toEqual(new Set(['53300']));
    expect(states()).toMatchObject({ holding: HELD });
    for (const { socket } of refused) socket.end();
    await until('their ends', () => lab.closed().length === refused.length, PATIENCE_MS);

    lab.decide({ write: { open: { 'pg-2': primary.address } } });
    const atOnce = released();
    expect(atOnce).toBeLessThanOrEqual(PER_SECOND / 50);
    for (let steps = 1; released() < HELD; steps += 1) {
      await clock.advance(STEP_MS);
      expect(released() - atOnce).toBeLessThanOrEqual(steps * PER_STEP);
      expect(released() - atOnce).toBeGreaterThan((steps - 5) * PER_STEP);
    }
    await until('their sessions', () => states()?.relaying === HELD, PATIENCE_MS);
    const held = clients.filter((client) => !refused.includes(client));
    await until('their echoes', () => held.every((client) => client.received().equals(aStartup())), PATIENCE_MS);
    expect(primary.connections).toHaveLength(HELD);
    for (const { socket } of held) socket.end();
    await until('the end', () => lab.closed().length === CLIENTS, PATIENCE_MS);
  },
);
