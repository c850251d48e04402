// TLS between Pointsman and the members (`backend.tls`), on real servers: sessions in plain text and in TLS with
// Pointsman reach them encrypted, are cancelled, and are refused where the certificate is not right.
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { createConnection } from 'node:net';
import { Client } from 'pg';
import { afterEach, expect, it } from 'vitest';
import { z } from 'zod';
import { memberStatus, type MemberStatusDocument } from '../../src/documents/member-document.ts';
import { cancelRequestOf } from '../support/applications/cancel-key.ts';
import { describeOnEveryCluster } from '../support/clusters/describe-on-clusters.ts';
import { replicasOf, waitForMembers } from '../support/clusters/pool-members.ts';
import { switchOnTls } from '../support/clusters/switch-on-tls.ts';
import type { PointsmanProcess } from '../support/processes/pointsman-process.ts';
import { runPointsman } from '../support/processes/run-program.ts';
import { SERVER, tlsFile, tlsText } from '../support/values/tls-files.ts';

const FAILURES = 'pointsman_member_tls_failures_total';
const EXPIRY = 'pointsman_member_tls_certificate_expiry_timestamp_seconds';
const IS_ENCRYPTED = 'select ssl, version from pg_stat_ssl where pid = pg_backend_pid()';
const SLEEP = "do $$ begin raise notice 'asleep'; perform pg_sleep(60); end $$";

const statusSchema = z.object({ members: z.array(memberStatus) });

async function membersIn(pointsman: PointsmanProcess): Promise<readonly MemberStatusDocument[]> {
  return statusSchema.parse(JSON.parse((await pointsman.admin('/status')).text)).members;
}

describeOnEveryCluster('TLS to members', (on) => {
  const lab = on.clusterWithPointsman({
    pointsman: {
      workers: 2,
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

  it('G25: a member without TLS gets no session', async () => {
    await lab.pointsman.waitUntilReady();
    await expect(connect('read')).rejects.toMatchObject({
      code: '08006',
      detail: expect.stringContaining('the server has no TLS (backend.tls.mode is verify-full)'),
    });
  });

  it('it stays in the table, and every place says why nobody gets there', async () => {
    const { pointsman } = lab;
    const [{ name: member }] = await replicasOf(lab.cluster);
    await connect('read').catch(() => {});
    const failures = `${FAILURES}{member="${member}",reason="no_tls"}`;
    await pointsman.waitFor('the count', async () => ((await pointsman.metric(failures)) ?? 0) > 1);
    const sentence = 'the server has no TLS (backend.tls.mode is verify-full)';
    const port = await pointsman.port('admin');
    const { stdout } = await runPointsman(['explain', '--admin', `127.0.0.1:${port}`]);
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain(`TLS with ${member} fails: ${sentence}`);
    const members = await membersIn(pointsman);
    const { tls, pools } = members.find(({ name }) => name === member) ?? {};
    expect([tls?.failing?.reason, pools?.['read']?.standing]).toEqual(['no_tls', 'open']);
    // Two workers, several attempts: one line for each member and fault, unless details are wanted.
    const told = pointsman.lines.filter((line) => line['event'] === 'member_tls_failed' && line['level'] !== 'debug');
    expect(told.filter((line) => line['member'] === member)).toMatchObject([{ level: 'warn', reason: 'no_tls' }]);
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

  it('the certificates of the members that served, and no fault any more', async () => {
    const { pointsman } = lab;
    const until = new X509Certificate(tlsText('server.pem')).validToDate;
    const used = (await membersIn(pointsman)).filter(({ tls }) => tls !== undefined && tls.failing === undefined);
    expect(used.length).toBeGreaterThan(1);
    for (const { name, tls } of used) {
      expect(tls).toEqual({ certificate_expires_at: until.toISOString() });
      expect(await pointsman.metric(`${EXPIRY}{member="${name}"}`)).toBe(until.getTime() / 1000);
    }
  });

  it('init writes settings that every member accepts, with its authority', async () => {
    const [{ api }] = await replicasOf(lab.cluster);
    const { code, stdout, stderr } = await runPointsman(['init', '--from', api, '--ca', tlsFile('ca.pem')]);
    expect([code, stdout]).toEqual([0, expect.stringContaining(`    ca_file: ${tlsFile('ca.pem')} # --ca\n`)]);
    expect(stdout).toContain('    mode: verify-full # ');
    for (const { name } of lab.cluster.members()) {
      expect(stderr).toMatch(
        new RegExp(`^${name} +verified +\\d{4}-\\d\\d-\\d\\d +pg-a\\.test, 127\\.0\\.0\\.1$`, 'm'),
      );
    }
  });
});
