// The clients of every worker when the cluster changes, and when the main process does not report it.
import { afterEach, expect, test } from 'vitest';
import { freeze } from '../../support/processes/freeze.ts';
import { aCancelOf, aPacket, aStartup, errorFields } from '../../support/sockets/packets.ts';
import { isOver, isServed, stillEchoes } from '../../support/sockets/echo-session.ts';
import { AUTHENTICATION_OK, backendKeyData, readyForQuery } from '../../support/sockets/messages.ts';
import { connectRaw } from '../../support/sockets/raw-client.ts';
import type { RawClient } from '../../support/sockets/raw-client.ts';
import { WorkersLab, workerIn } from '../../support/labs/workers-lab.ts';

let lab: WorkersLab;

const secret = (n: number): Buffer => Buffer.from([9, 9, 9, n]);

afterEach(() => lab.stop());

test('G1, G3: a switchover: sessions of both workers end, clients wait, and the next primary serves all', async () => {
  lab = await WorkersLab.start();
  const { primary, replica } = lab.cluster;
  const sessions = await lab.sessionsOnBoth('write');
  primary.api.set({ role: 'replica', hasLock: false });
  await lab.pointsman.waitFor('the evictions', () => sessions.flat().every(isOver));
  const ends = await lab.pointsman.waitFor('their lines', () => {
    const lines = lab.said('session_closed');
    return lines.length === sessions.flat().length && lines;
  });
  expect(new Set(ends.map(({ reason }) => reason))).toEqual(new Set(['evicted_demoted']));
  expect(new Set(ends.map(workerIn))).toEqual(new Set([1, 2]));

  const waiting = await lab.onBoth('write');
  await lab.pointsman.waitFor('the holds', () => lab.said('hold_started').length === waiting.flat().length);
  expect(new Set(lab.said('hold_started').map(workerIn))).toEqual(new Set([1, 2]));
  const before = primary.postgres.clients();
  replica.api.set({ role: 'primary', hasLock: true, timeline: 2 });
  await lab.pointsman.waitFor('the release', () => waiting.flat().every(isServed));
  expect(primary.postgres.clients()).toBe(before);
  for (const client of waiting.flat()) await stillEchoes(client);
});

test('G2, G4: a main process hangs: workers hold clients on old evidence, and the grace ends sessions', async () => {
  lab = await WorkersLab.start({ probe: { write_max_age: '2s', read_max_age: '2s', silence_grace: '4s' } });
  const sessions = await lab.sessionsOnBoth('write');
  const { postgres } = lab.cluster.primary;
  const at = await lab.at('write');
  freeze(lab.pointsman.pid);
  try {
    await lab.pointsman.waitFor('the end of the sessions', () => sessions.flat().every(isOver), 30_000);
    const late: RawClient[] = [];
    for (let i = 0; i < 8; i += 1) late.push(await connectRaw(at));
    const before = postgres.clients();
    for (const { socket } of late) socket.write(aStartup());
    lab.switchOver();
    expect(postgres.clients()).toBe(before);
    lab.pointsman.signal('SIGCONT');
    await lab.pointsman.waitFor('their service', () => late.every(isServed), 30_000);
    expect(postgres.clients()).toBe(before);
  } finally {
    lab.pointsman.signal('SIGCONT');
  }
});

test('G17: a cancel, or a peer’s offer, that comes to another worker than its session still finds it', async () => {
  lab = await WorkersLab.start({ peers: ['127.0.0.1:1'] });
  const { postgres } = lab.cluster.primary;
  postgres.behaviour = 'silent';
  let made = 0;
  const sessions = await lab.onBoth('write', async (at) => {
    made += 1;
    const startup = aStartup({ user: `client-${made}`, database: 'shop' });
    const client = await connectRaw(at);
    client.socket.write(startup);
    const server = await lab.pointsman.waitFor('the startup', () =>
      postgres.connections.find((connection) => connection.received().equals(startup)),
    );
    const words = Buffer.concat([AUTHENTICATION_OK, backendKeyData(7, secret(made)), readyForQuery('I')]);
    server.socket.write(words);
    await lab.pointsman.waitFor('the key', () => client.received().length === words.length);
    return client;
  });
  expect(sessions.flat()).toHaveLength(made);

  const request = aCancelOf(7, secret(1));
  const heard = (): number => postgres.connections.filter((one) => one.received().equals(request)).length;
  const cancels = await lab.onBoth('read', async (at) => {
    const before = heard();
    const client = await connectRaw(at);
    client.socket.write(request);
    await lab.pointsman.waitFor('the cancel at its server', () => heard() === before + 1);
    return client;
  });
  expect(heard()).toBe(cancels.flat().length);
  // The cancel ends after the server has acted, in any worker: the client sends its next statement after that end.
  for (const client of cancels.flat()) expect([client.hasEnded, client.isClosed]).toEqual([false, false]);
  for (const connection of postgres.connections) {
    if (connection.received().equals(request)) connection.socket.end();
  }
  await lab.pointsman.waitFor('the ends', () => cancels.flat().every(({ hasEnded }) => hasEnded));
  await lab.pointsman.waitFor('the log', () => lab.said('cancel_forwarded').length === heard());
  expect(new Set(lab.said('cancel_forwarded').map(({ key }) => key))).toEqual(new Set(['known']));

  const before = heard();
  const offers = await lab.onBoth('read', async (at) => {
    const client = await connectRaw(at);
    client.socket.write(aPacket(0x504d0001, request.subarray(8)));
    await lab.pointsman.waitFor('yes', () => client.received().toString() === 'Y');
    return client;
  });
  for (const client of offers.flat()) client.socket.write(request);
  await lab.pointsman.waitFor('the offered cancels', () => heard() === before + offers.flat().length);
  for (const client of offers.flat()) client.socket.destroy();

  const unknown = await connectRaw(await lab.at('write'));
  unknown.socket.write(aCancelOf(7, Buffer.from('none')));
  const guess = await lab.pointsman.waitFor('the guess', () =>
    lab.said('cancel_forwarded').find(({ key }) => key === 'unknown'),
  );
  expect(guess['members']).toEqual(['pg-1']);
});

test('the end of a fallback: the sessions of both workers leave the primary', async () => {
  lab = await WorkersLab.start({ pools: { read: { relocate_after: '100ms', drain_timeout: '100ms' } } });
  const { primary, replica } = lab.cluster;
  const readsFrom = (to: string) =>
    lab.pointsman.waitFor(`reads on ${to}`, () => JSON.stringify(lab.said('route_changed').at(-1)).includes(to));
  replica.api.set({ tags: { noloadbalance: true } });
  await readsFrom('fallback to pool write');
  const sessions = await lab.sessionsOnBoth('read');
  expect(primary.postgres.connections.length).toBeGreaterThanOrEqual(sessions.flat().length);
  replica.api.set({ tags: {} });
  await lab.pointsman.waitFor('the end of the sessions', () => sessions.flat().every(isOver));
  const ends = await lab.pointsman.waitFor('their lines', () => {
    const lines = lab.said('session_closed');
    return lines.length === sessions.flat().length && lines;
  });
  expect(new Set(ends.map(({ reason }) => reason))).toEqual(new Set(['evicted_fallback_over']));
  expect(new Set(ends.map(workerIn))).toEqual(new Set([1, 2]));
});

test('a member that an operator drains gets no client of any worker', async () => {
  lab = await WorkersLab.start({ admin: { address: '127.0.0.1:0', token: 'a-token-for-the-test' } });
  const before = await lab.sessionsOnBoth('read');
  await lab.pointsman.operate('/members/pg-2/drain', 'a-token-for-the-test');
  const after = await lab.sessionsOnBoth('read');
  expect(lab.cluster.replica.postgres.clients()).toBe(before.flat().length);
  expect(lab.cluster.primary.postgres.clients()).toBe(after.flat().length);
});

test('a primary that reports to be a standby: the main process’s verdict counts in every worker', async () => {
  lab = await WorkersLab.start();
  lab.cluster.primary.postgres.behaviour = 'standby';
  const at = await lab.at('write');
  const first = await connectRaw(at);
  first.socket.write(aStartup());
  await lab.pointsman.waitFor('its refusal', () => errorFields(first.received()));
  await lab.pointsman.waitFor('the line', () =>
    lab.said('route_changed').some(({ pool, cause }) => pool === 'write' && cause === 'in_recovery'),
  );
  lab.cluster.primary.postgres.behaviour = 'obliging';
  const served = await lab.onBoth('write', async () => {
    const client = await connectRaw(at);
    client.socket.write(aStartup());
    await lab.pointsman.waitFor('the welcome', () => client.received().length > 0);
    expect(errorFields(client.received())).toBeUndefined();
    return client;
  });
  for (const { socket } of [first, ...served.flat()]) socket.destroy();
});
