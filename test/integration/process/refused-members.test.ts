// A member that is in the status document and fails the trust rules. Every output names it with the reason.
import { createServer } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { FakeMember } from '../../support/fakes/fake-member.ts';
import { listen } from '../../support/sockets/listen.ts';
import { aStartup, errorFields } from '../../support/sockets/packets.ts';
import { checkConfig, startPointsman } from '../../support/processes/pointsman-process.ts';
import type { PointsmanProcess } from '../../support/processes/pointsman-process.ts';
import { connectRaw } from '../../support/sockets/raw-client.ts';

let pointsman: PointsmanProcess;
const members: FakeMember[] = [];

afterEach(async () => {
  await pointsman.stop();
  for (const member of members.splice(0)) await member.stop();
});

async function aMember(name: string, role: 'primary' | 'replica', at = {}): Promise<FakeMember> {
  const member = await FakeMember.start(name, { role }, at);
  members.push(member);
  return member;
}

const POSTGRES_PORT = 'PostgreSQL port 15434 is not allowed: add 15434 to cluster.allow.ports to allow it';

/** A seed with PostgreSQL on port 5433, a primary that is no seed and has another port, and a stranger. */
async function aCluster(): Promise<FakeMember> {
  const replica = await aMember('pg-1', 'replica');
  const primary = await aMember('pg-2', 'primary', { host: '127.0.0.2', port: replica.address.port });
  const stranger = {
    ...replica.entry({ host: '169.254.169.254', port: 22 }),
    name: 'pg-9',
    api_url: 'http://169.254.169.254:80/patroni',
  };
  const list = [replica.entry({ port: 5433 }), primary.entry({ port: 15_434 }), stranger];
  replica.set({ cluster: { scope: 'demo', members: list } });
  return replica;
}

test.each([1, 2])(
  'scenario 44: the log, the metric, /status and the DETAIL of a client name a refused member: %i',
  async (workers) => {
    const seed = await aCluster();
    pointsman = await startPointsman({
      workers,
      cluster: { seeds: [seed.url] },
      listeners: [{ address: '127.0.0.1:0', pool: 'write' }],
      admin: { address: '127.0.0.1:0' },
      hold: { client_timeout: '200ms' },
    });
    const told = await pointsman.waitFor('the warning', () =>
      pointsman.lines.find((line) => line['event'] === 'members_refused'),
    );
    expect(told).toMatchObject({ level: 'warn', msg: expect.stringContaining(`pg-2 (${POSTGRES_PORT})`) });
    expect(told['msg']).toMatch(/pg-9 .*169\.254\.169\.254/);
    expect(told['msg']).not.toContain('pg-1');

    expect(await pointsman.metric('pointsman_members_refused{reason="postgres_port"}')).toBe(1);
    expect(await pointsman.metric('pointsman_members_refused{reason="forbidden_address"}')).toBe(1);
    expect(await pointsman.metric('pointsman_members_refused{reason="api_port"}')).toBe(0);

    await pointsman.waitUntilReady();
    const status: unknown = JSON.parse((await pointsman.admin('/status')).text);
    expect(status).toMatchObject({
      members: [
        { name: 'pg-1', postgres: '127.0.0.1:5433' },
        { name: 'pg-2', postgres: null },
      ],
      refused_members: [
        { name: 'pg-2', reason: 'postgres_port', why: POSTGRES_PORT },
        { name: 'pg-9', reason: 'forbidden_address' },
      ],
    });

    const client = await connectRaw({ host: '127.0.0.1', port: await pointsman.port('write') });
    client.socket.write(aStartup());
    const error = await pointsman.waitFor('the refusal', () => errorFields(client.received()));
    expect(error['D']).toContain('not used: pg-2 (PostgreSQL port not allowed by cluster.allow.ports), pg-9 (');
    // The client has not authenticated.
    expect(error['D']).not.toMatch(/15434|169\.254/);
  },
);

test('scenario 44: check --live fails and names the setting that would allow the member', async () => {
  const seed = await aCluster();
  pointsman = await checkConfig(`cluster: { seeds: ["${seed.url}"] }\n`, '--live');
  expect(await pointsman.exited()).toBe(1);
  expect(pointsman.stderr.join('')).toContain('2 members are not used: pg-2, pg-9');
});

test('a cluster on a port other than 5432: used without any setting, and check --live succeeds', async () => {
  const primary = await aMember('pg-1', 'primary');
  const postgres = createServer((socket) => socket.destroy());
  primary.set({ cluster: { scope: 'demo', members: [primary.entry({ port: await listen(postgres) })] } });
  pointsman = await checkConfig(`cluster: { seeds: ["${primary.url}"] }\n`, '--live');
  expect(await pointsman.exited()).toBe(0);
  postgres.close();
  expect(pointsman.stderr.join('')).toBe('');
});

test('no member has an address: check --live fails', async () => {
  const primary = await aMember('pg-1', 'primary');
  primary.set({ cluster: { scope: 'demo', members: [primary.entry({ host: undefined })] } });
  pointsman = await checkConfig(`cluster: { seeds: ["${primary.url}"] }\n`, '--live');
  expect(await pointsman.exited()).toBe(1);
  expect(pointsman.stderr.join('')).toContain('no member can be used');
});
