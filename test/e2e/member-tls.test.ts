// TLS between Pointsman and the members (`backend.tls`), on real servers: sessions in plain text and in TLS with
// Pointsman reach them encrypted, are cancelled, and are refused where the certificate is not right.
import { once } from 'node:events';
import { createConnection } from 'node:net';
import { Client } from 'pg';
import { afterEach, expect, it } from 'vitest';
import { cancelRequestOf } from '../support/applications/cancel-key.ts';
import { describeOnEveryCluster } from '../support/clusters/describe-on-clusters.ts';
import { replicasOf, waitForMembers } from '../support/clusters/pool-members.ts';
import { switchOnTls } from '../support/clusters/switch-on-tls.ts';
import { SERVER, tlsFile } from '../support/values/tls-files.ts';

const IS_ENCRYPTED = 'select ssl, version from pg_stat_ssl where pid = pg_backend_pid()';
const SLEEP = "do $$ begin raise notice 'asleep'; perform pg_sleep(60); end $$";

describeOnEveryCluster('TLS to members', (on) => {
  const lab = on.clusterWithPointsman({
    pointsman: {
      hold: { client_timeout: '1s' },
      client: { tls: { mode: 'terminate', ...SERVER } },
      backend: { tls: { mode: 'verify-full', ca_file: tlsFile('ca.pem'), server_name: 'pg-a.test' } },
    },
  });
  const open: Client[] = [];
  afterEach(async () => {
    await Promise.all(open.splice(0).map((client) => client.end()));
  });

  async function connect(pool: string, more: object = {}): Promise<Client> {
    const port = await lab.pointsman.port(pool);
    const client = new Client({ host: '127.0.0.1', port, ...lab.cluster.app, ...more });
    client.on('error', () => {});
    await client.connect();
    open.push(client);
    return client;
  }

  it('a member without TLS gets no session', async () => {
    await lab.pointsman.waitUntilReady();
    await expect(connect('read')).rejects.toMatchObject({
      code: '08006',
      detail: expect.stringContaining('the server has no TLS (backend.tls.mode is verify-full)'),
    });
  });

  it('sessions are encrypted on the way to the members, and cancelled', async () => {
    await switchOnTls(lab.cluster);
    await waitForMembers(lab, 'read', await replicasOf(lab.cluster));
    for (const pool of ['write', 'read']) {
      for (const more of [{}, { ssl: { rejectUnauthorized: false } }]) {
        const client = await connect(pool, more);
        expect((await client.query(IS_ENCRYPTED)).rows).toEqual([{ ssl: true, version: 'TLSv1.3' }]);
        const isAsleep = once(client, 'notice');
        const sleeping = client.query(SLEEP);
        await isAsleep;
        const cancel = createConnection(await lab.pointsman.port(pool), '127.0.0.1');
        cancel.on('error', () => {}).end(cancelRequestOf(client));
        await expect(sleeping).rejects.toMatchObject({ code: '57014' });
      }
    }
  });
});
