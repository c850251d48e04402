// The effect of silence on writes: the whole program before a primary whose host vanishes, and before APIs that no
// longer answer.
import { afterEach, expect, test } from 'vitest';
import { AppLab, fileFor, startFakeServer, stopServers } from '../../support/labs/app-lab.ts';
import type { FakeServer } from '../../support/labs/app-lab.ts';
import { startBlackHole } from '../../support/fakes/black-hole.ts';
import type { BlackHole } from '../../support/fakes/black-hole.ts';
import { askingClient, echoSession, isOver, isServed, stillEchoes } from '../../support/sockets/echo-session.ts';
import { until } from '../../support/waiting/until.ts';

const PROBE = { interval: '100ms', timeout: '200ms', urgent: { interval: '50ms', for: '30s' }, write_max_age: '1s' };

let lab: AppLab | undefined;
let hole: BlackHole | undefined;
const servers: FakeServer[] = [];

afterEach(async () => {
  await lab?.app.stop();
  await hole?.stop();
  await stopServers(servers.splice(0));
  [lab, hole] = [undefined, undefined];
});

async function beforeABlackHole(silenceGrace: string) {
  hole = await startBlackHole();
  const other = await startFakeServer('pg-2');
  servers.push(other);
  lab = await AppLab.start(fileFor([hole, other], { probe: { ...PROBE, silence_grace: silenceGrace } }));
  return { gone: hole, other, app: lab };
}

/** The log lines of the write pool, oldest first. A slow machine may hold clients for a moment before the silence. */
function told(app: AppLab): readonly unknown[] {
  return app.lines.flatMap(({ event, pool, to, reason }) => {
    if (pool !== 'write') return [];
    if (event === 'route_changed') return [to instanceof Object && 'kind' in to ? to.kind : to];
    return event === 'session_closed' ? [reason] : [];
  });
}

test('scenario 7, G4: a primary in a black hole: stale evidence holds clients, the grace ends sessions', async () => {
  const { gone, app } = await beforeABlackHole('2s');
  const live = await echoSession(app.address('write'));
  await gone.swallow();
  const since = told(app).lastIndexOf('open');
  await until('the end of the session', () => isOver(live), 10_000);
  expect(told(app).slice(since)).toEqual(['open', 'hold', 'evicted_silent']);
});

test('scenario 7, G4: a newly proven primary ends sessions in a black hole; waiting clients are served', async () => {
  const { gone, other, app } = await beforeABlackHole('1h');
  const live = await echoSession(app.address('write'));
  await gone.swallow();
  const since = told(app).lastIndexOf('open');
  await until('the hold', () => told(app).slice(since).includes('hold'));
  const waiting = await askingClient(app.address('write'));
  expect(isOver(live)).toBe(false);
  other.api.set({ role: 'primary', hasLock: true, timeline: 2 });
  await until('the session', () => isServed(waiting));
  await until('the end of the old one', () => isOver(live));
  expect(told(app).slice(since)).toEqual(['open', 'hold', 'evicted_demoted', 'open']);
});

test('G2, G4: all APIs silent, PostgreSQL fine: stale evidence holds clients, the grace ends sessions', async () => {
  const primary = await startFakeServer('pg-1', { role: 'primary' });
  servers.push(primary, await startFakeServer('pg-2'));
  // A probe of the port sends no byte; it runs while the API is silent.
  const sessions = () => primary.postgres.connections.filter((connection) => connection.received().length > 0);
  lab = await AppLab.start(fileFor(servers, { probe: { ...PROBE, silence_grace: '1h' } }));
  const app = lab;
  const live = await echoSession(app.address('write'));
  for (const { api } of servers) api.set({ misbehave: 'hang' });
  const since = told(app).lastIndexOf('open');
  await until('the hold', () => told(app).slice(since).includes('hold'));
  const waiting = await askingClient(app.address('write'));
  await stillEchoes(live);
  expect(sessions()).toHaveLength(1);
  expect(waiting.received()).toHaveLength(0);
  for (const { api } of servers) api.set({ misbehave: undefined });
  await until('the session', () => isServed(waiting));
  expect(sessions()).toHaveLength(2);
  await stillEchoes(live);
  expect(app.reasons()).toEqual([]);
});
