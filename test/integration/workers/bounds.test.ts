// Limits over all workers: kept except for the sessions that other workers accept before the counts arrive. The own
// count of a worker never exceeds the limit.
import { afterEach, expect, test } from 'vitest';
import { askingClient, isServed } from '../../support/sockets/echo-session.ts';
import { errorFields } from '../../support/sockets/packets.ts';
import type { RawClient } from '../../support/sockets/raw-client.ts';
import { WorkersLab } from '../../support/labs/workers-lab.ts';

let lab: WorkersLab;

afterEach(() => lab.stop());

const BOUND = 6;

const isRefused = (client: RawClient): boolean => errorFields(client.received())?.['C'] === '53300';
const isAnswered = (client: RawClient): boolean => isServed(client) || isRefused(client);

async function oneMore(): Promise<RawClient> {
  const client = await askingClient(await lab.at('write'));
  await lab.pointsman.waitFor('an answer', () => isAnswered(client));
  return client;
}

test.each([
  ['all sessions', { max_sessions: BOUND }],
  ['sessions of one address', { max_sessions_per_address: BOUND }],
])('%s: connects one after the other: both workers refuse clients over the limit', async (_, client) => {
  lab = await WorkersLab.start({ client });
  const clients: RawClient[] = [];
  const turnedAwayBy = new Set<number>();
  for (let tries = 0; tries < 100 && turnedAwayBy.size < 2; tries += 1) {
    const one = await oneMore();
    clients.push(one);
    if (isRefused(one)) turnedAwayBy.add(await lab.workerOf(one));
  }
  expect(turnedAwayBy).toEqual(new Set([1, 2]));
  const served = clients.filter(isServed).length;
  // A client is answered within milliseconds, so one worker may accept clients before it reads the other's latest
  // count.
  expect(served).toBeGreaterThanOrEqual(BOUND);
  expect(served).toBeLessThanOrEqual(2 * BOUND);
  for (let i = 0; i < 10; i += 1) expect(isRefused(await oneMore()), 'once it is known it is kept').toBe(true);
});

test('a burst: no worker exceeds the limit, and once the counts have arrived each new client is refused', async () => {
  lab = await WorkersLab.start({ client: { max_sessions: BOUND } });
  const at = await lab.at('write');
  const burst = await Promise.all(Array.from({ length: 60 }, () => askingClient(at)));
  await lab.pointsman.waitFor('the answers', () => burst.every(isAnswered));
  const served = await Promise.all(burst.filter(isServed).map((client) => lab.workerOf(client)));
  for (const worker of [1, 2]) expect(served.filter((one) => one === worker).length).toBeLessThanOrEqual(BOUND);
  await lab.pointsman.waitFor('the next to be refused', async () => isRefused(await oneMore()));
});

test('a client that leaves frees its slot at the other worker', async () => {
  lab = await WorkersLab.start({ client: { max_sessions: 2 } });
  const [[first], [second]] = await lab.onBoth('write', oneMore);
  if (first === undefined || second === undefined) throw new Error('one on each');
  await lab.pointsman.waitFor('the bound', async () => isRefused(await oneMore()));
  first.socket.destroy();
  second.socket.destroy();
  await lab.pointsman.waitFor('room', async () => isServed(await oneMore()));
});
