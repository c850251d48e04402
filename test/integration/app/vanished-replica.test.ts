// A replica whose packets are dropped. The test measures the loss of a new client and of a client with a session.
import { afterEach, expect, test } from 'vitest';
import { AppLab, fileFor, startFakeServer, stopServers } from '../../support/labs/app-lab.ts';
import type { FakeServer } from '../../support/labs/app-lab.ts';
import { startBlackHole } from '../../support/fakes/black-hole.ts';
import type { BlackHole } from '../../support/fakes/black-hole.ts';
import { askingClient, echoSession, isOver, isServed, stillEchoes } from '../../support/sockets/echo-session.ts';
import { until } from '../../support/waiting/until.ts';

let lab: AppLab | undefined;
const holes: BlackHole[] = [];
const servers: FakeServer[] = [];

afterEach(async () => {
  await lab?.app.stop();
  lab = undefined;
  for (const hole of holes.splice(0)) await hole.stop();
  await stopServers(servers.splice(0));
});

async function start(): Promise<AppLab> {
  lab = await AppLab.start(fileFor([...servers, ...holes], { probe: { silence_grace: '1h' } }));
  return lab;
}

/** Sessions of the read pool on the member `pg-2` or `pg-3`. */
async function readersOn(app: AppLab, member: string): Promise<number | undefined> {
  return await app.metric(`pointsman_member_sessions{pool="read",member="${member}"}`);
}

async function readers(app: AppLab, member: string, count: number): Promise<void> {
  await until(`${count} on ${member}`, async () => (await readersOn(app, member)) === count);
}

test('G10: with one replica in a black hole, the other one serves every new session', async () => {
  servers.push(await startFakeServer('pg-1', { role: 'primary' }), await startFakeServer('pg-3'));
  const hole = await startBlackHole('pg-2');
  holes.push(hole);
  const app = await start();
  await hole.swallow();
  const waits: number[] = [];
  for (let count = 0; count < 20; count += 1) {
    const askedAt = performance.now();
    const client = await askingClient(app.address('read'));
    await until('the session', () => isServed(client));
    waits.push(Math.round(performance.now() - askedAt));
    client.socket.destroy();
  }
  console.log(`new sessions waited for ${waits.join(', ')} ms`);
  expect(Math.max(...waits)).toBeLessThan(1500);
});

test('live sessions on a replica in a black hole end long before silence_grace; the others live', async () => {
  servers.push(await startFakeServer('pg-1', { role: 'primary' }), await startFakeServer('pg-3'));
  const hole = await startBlackHole('pg-2');
  holes.push(hole);
  const app = await start();
  const live = [await echoSession(app.address('read')), await echoSession(app.address('read'))];
  await readers(app, 'pg-2', 1);
  await hole.swallow();
  const swallowedAt = performance.now();
  const gone = await until('an end', () => live.find(isOver), 10_000);
  const gapMs = Math.round(performance.now() - swallowedAt);
  console.log(`the live session ended after ${gapMs} ms`);
  expect(gapMs).toBeLessThan(9000);
  expect(app.reasons()).toEqual(['evicted_silent']);
  for (const session of live) if (session !== gone) await stillEchoes(session);
});

test('G12: when no member answers any more, the fault may be local: live sessions stay', async () => {
  holes.push(await startBlackHole(), await startBlackHole('pg-2'));
  const app = await start();
  const live = await echoSession(app.address('read'));
  for (const hole of holes) await hole.swallow();
  const silentProbes = async () => await app.metric('pointsman_probes_total{member="pg-2",outcome="timeout"}');
  await until('five silent probes', async () => ((await silentProbes()) ?? 0) >= 5, 10_000);
  expect([isOver(live), app.reasons()]).toEqual([false, []]);
});
