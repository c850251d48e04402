// A scheduled switchover: new clients of the primary wait from shortly before it, and get the next primary. Live
// sessions go on until PostgreSQL ends them.
import { Client } from 'pg';
import { expect, it } from 'vitest';
import type { MemberAddress } from '../support/patroni/member.ts';
import { describeOnEveryCluster, ENCRYPTED_ON_PATRONI } from '../support/clusters/describe-on-clusters.ts';
import { SERVER_NAME, serverName } from '../support/clusters/server-name.ts';
import { ADMIN_TOKEN } from '../support/values/canaries.ts';

const BEFORE_MS = 3000;

describeOnEveryCluster({ name: 'a scheduled switchover', legs: ENCRYPTED_ON_PATRONI }, (on) => {
  const lab = on.clusterWithPointsman({
    pointsman: {
      admin: { address: '127.0.0.1:0', token: ADMIN_TOKEN },
      hold: { before_switchover: `${BEFORE_MS}ms` },
    },
  });

  it('scenario 3: new clients wait from shortly before a scheduled one, and the next primary serves them', async () => {
    const { cluster, pointsman } = lab;
    const port = await pointsman.port('write');
    await pointsman.waitUntilReady();
    const old = await cluster.leader();
    const live = await connect(port);
    const atMs = Date.now() + 7000;
    await schedule(old, atMs);
    await refresh();
    const heldAtMs = await pointsman.waitFor('clients held for the switchover', () => {
      const line = pointsman.lines.find(
        ({ event, msg }) => event === 'route_changed' && String(msg).includes('a switchover is due or running'),
      );
      return line && Date.parse(String(line['time']));
    });
    expect(heldAtMs, 'before its time').toBeLessThan(atMs);
    const held = connect(port);
    await pointsman.waitFor(
      'the held client',
      async () => (await pointsman.metric('pointsman_held_clients{pool="write"}')) === 1,
    );
    const { rows } = await live.query<{ server: string }>(`select ${SERVER_NAME} as server`);
    expect(rows[0]?.server, 'a live session stays').toBe(serverName(old));

    const client = await held;
    const served = await client.query<{ server: string }>(
      `insert into direct_writes (member) values ('held') returning ${SERVER_NAME} as server`,
    );
    const next = await cluster.leader();
    expect(next.name).not.toBe(old.name);
    expect(served.rows[0]?.server).toBe(serverName(next));
    await client.end();
    await live.end().catch(() => undefined);
  });

  async function connect(port: number): Promise<Client> {
    const client = new Client({ host: '127.0.0.1', port, ...lab.cluster.app });
    client.on('error', () => undefined);
    await client.connect();
    return client;
  }

  /** Discovery reads the document every ten seconds, and at once after this request. */
  async function refresh(): Promise<void> {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' };
    const url = `http://127.0.0.1:${await lab.pointsman.port('admin')}/refresh`;
    expect((await fetch(url, { method: 'POST', headers, body: '{}' })).status).toBe(200);
  }
});

async function schedule(leader: MemberAddress, atMs: number): Promise<void> {
  const body = JSON.stringify({ leader: leader.name, scheduled_at: new Date(atMs).toISOString() });
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${leader.api}/switchover`, { method: 'POST', headers, body });
  expect([response.status, await response.text()]).toEqual([202, expect.any(String)]);
}
