// A real Patroni whose API wants a client certificate, and a password for requests that change something.
import { mkdtempSync, chmodSync, copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { ApiTls } from '../../src/model/cluster-config.ts';
import type { ClusterControl } from '../../src/cluster/control.ts';
import { directControl } from '../support/clusters/direct-control.ts';
import type { PatroniCluster } from '../support/patroni/cluster.ts';
import { describeOnPatroni } from '../support/patroni/describe-on-patroni.ts';
import { memberAddress } from '../support/patroni/site.ts';
import { waitForMembers } from '../support/clusters/pool-members.ts';
import { startPatroniCluster } from '../support/patroni/start-cluster.ts';
import { Authority } from '../support/processes/authority.ts';
import { Command } from '../support/processes/command.ts';
import { checkConfig, startPointsman } from '../support/processes/pointsman-process.ts';
import { configFor } from '../support/processes/pointsman-config.ts';
import { until } from '../support/waiting/until.ts';
import { ADMIN_TOKEN, API_PASSWORD } from '../support/values/canaries.ts';

const AUTH = { username: 'operator', password: API_PASSWORD };
const RELOAD = { kind: 'reload', member: 'pg-1' } as const;
const ADDRESSES = [memberAddress(0), memberAddress(1)].map((address) => `IP:${address}`);

describeOnPatroni('Patroni with a protected API', () => {
  let cluster: PatroniCluster;
  const directory = mkdtempSync(join(tmpdir(), 'pointsman-access-'));
  const passwordFile = join(directory, 'password');
  chmodSync(directory, 0o755);
  const [authority, next] = [new Authority(directory, 'ca'), new Authority(directory, 'next')];
  const own = { ca: authority.file, ...authority.sign('own', ['DNS:pointsman.test']) };
  const stranger = { ca: authority.file, ...next.sign('stranger', ['DNS:pointsman.test']) };
  const { cert: certfile, key: keyfile } = authority.sign('api', ADDRESSES);
  const api = { certfile, keyfile, cafile: authority.file };

  beforeAll(async () => {
    const apiTls = { ...api, verify_client: 'optional' } as const;
    cluster = await startPatroniCluster({ members: 2, apiAuthentication: AUTH, apiTls });
  });
  afterAll(async () => {
    await cluster.destroy();
    rmSync(directory, { recursive: true });
  });

  const control = (
    auth?: { readonly password?: string; readonly passwordFile?: string },
    tls: ApiTls = own,
  ): Promise<ClusterControl> =>
    directControl(
      cluster.members().map((member) => member.api),
      {
        api: {
          tls,
          auth: auth && { username: AUTH.username, password: auth.password, passwordFile: auth.passwordFile },
        },
      },
    );

  test('reading needs no credentials, operations do, and the answer names the setting', async () => {
    const without = await control();
    expect(await without.report()).toMatchObject({ kind: 'read', value: { leader: 'pg-1' } });
    const result = await without.perform(RELOAD);
    expect(result).toMatchObject({ kind: 'unauthorized', status: 401, reason: 'no auth header received' });
    expect(result.text).toContain(
      'pg-1 requires credentials for the reload of pg-1 (status 401): set cluster.api.auth.',
    );
  });

  test('a wrong password is not accepted; the right one in the file counts at the next request', async () => {
    writeFileSync(passwordFile, 'wrong');
    const opened = await control({ passwordFile });
    const result = await opened.perform(RELOAD);
    expect(result).toMatchObject({ kind: 'unauthorized', reason: 'not authenticated' });
    expect(result.text).toContain('did not accept the credentials');
    expect(JSON.stringify(result)).not.toContain('wrong');
    writeFileSync(passwordFile, `${AUTH.password}\n`);
    expect(await opened.perform(RELOAD)).toMatchObject({ kind: 'scheduled', reason: 'reload scheduled' });
  });

  test('a switchover with the password', async () => {
    const opened = await control({ password: AUTH.password });
    const result = await opened.perform({ kind: 'switchover', leader: 'pg-1', candidate: 'pg-2' });
    expect(result).toMatchObject({ kind: 'done', reason: 'Successfully switched over to "pg-2"' });
    await cluster.waitUntilHealthy();
    expect(await opened.report()).toMatchObject({ value: { leader: 'pg-2' } });
  });

  test('verify_client: optional. Reading needs no certificate, operations do', async () => {
    const without = await control(AUTH, { ca: authority.file });
    expect(await without.report()).toMatchObject({ kind: 'read', value: { leader: 'pg-2' } });
    expect(await without.perform(RELOAD)).toMatchObject({
      kind: 'unauthorized',
      status: 403,
      text: expect.stringContaining(
        '(status 403): set cluster.api.tls.cert and key. pg-1 answered: client certificate',
      ),
    });
    expect(await (await control(AUTH, stranger)).report()).toMatchObject({
      kind: 'unreadable',
      why: expect.stringContaining('the server refuses the client certificate: unknown ca'),
    });
  });

  test('verify_client: required. Nothing is read without a certificate, and Pointsman serves with one', async () => {
    cluster.setApiTls({ ...api, verify_client: 'required' });
    const without = await control(AUTH, { ca: authority.file });
    // The server closes behind its alert. Where the request comes later than that, the reset overtakes the alert.
    const words = 'the server requires a client certificate';
    await until('a refused read', async () => {
      const report = await without.report();
      return report.kind === 'unreadable' && report.why.includes(`TLS failed: ${words}`);
    });
    await until('a refused operation', async () => (await without.perform(RELOAD)).text.includes(words));
    const opened = await control(AUTH);
    await until('a read', async () => (await opened.report()).kind === 'read');
    expect(await opened.perform(RELOAD)).toMatchObject({ kind: 'scheduled' });
  });

  test('Pointsman and its switchover, while every certificate and both authorities are rotated', async () => {
    const mine = {
      ca: join(directory, 'mine.ca'),
      cert: join(directory, 'mine.crt'),
      key: join(directory, 'mine.key'),
    };
    const put = (from: typeof own): void => {
      for (const name of ['ca', 'cert', 'key'] as const) copyFileSync(from[name], mine[name]);
    };
    put(own);
    const both = join(directory, 'both.ca');
    writeFileSync(both, [authority, next].map(({ file }) => readFileSync(file, 'utf8')).join(''));
    const config = configFor(cluster, {
      cluster: {
        seeds: cluster.members().map((member) => member.api),
        allow: { ports: cluster.members().map(({ port }) => port) },
        api: { tls: mine, auth: AUTH },
      },
      admin: { address: '127.0.0.1:0', token: ADMIN_TOKEN },
    });
    const running = await startPointsman(config);
    onTestFinished(() => running.stop());
    const told = (text: string): boolean =>
      running.lines.some((line) => line['level'] !== 'debug' && String(line['msg']).includes(text));
    await running.waitUntilReady();

    writeFileSync(mine.key, readFileSync(own.key, 'utf8').slice(0, 100));
    await running.waitFor('the broken key', () => told(`${mine.key} is not a private key in PEM`));
    const leader = await cluster.leader();
    await waitForMembers({ cluster, pointsman: running }, 'write', [leader]);
    put(own);

    for (const [pair, why] of [
      [authority.sign('expired', ADDRESSES, -1), 'certificate has expired (CERT_HAS_EXPIRED)'],
      [next.sign('next-api', ADDRESSES), 'self-signed certificate in certificate chain (SELF_SIGNED_CERT_IN_CHAIN)'],
    ] as const) {
      cluster.setApiTls({ certfile: pair.cert, keyfile: pair.key, cafile: both, verify_client: 'required' });
      await running.waitFor('its fault in the log', () => told(why));
      await running.waitFor('its fault in /status', async () => (await running.admin('/status')).text.includes(why));
      await until('check --live', async () => {
        const check = await checkConfig(config, '--live');
        onTestFinished(() => check.stop());
        return (await check.exited()) === 1 && check.stderr.join('').includes(why);
      });
    }

    put({ ca: both, ...next.sign('next-own', ['DNS:pointsman.test']) });
    await waitForMembers({ cluster, pointsman: running }, 'write', [leader]);
    const admin = `127.0.0.1:${await running.port('admin')}`;
    const command = new Command(['switchover', '--admin', admin, '--yes'], { POINTSMAN_ADMIN_TOKEN: ADMIN_TOKEN });
    onTestFinished(() => command.stop());
    expect([await command.ended(), command.output]).toEqual([0, expect.stringMatching(/is the primary/)]);
    expect((await cluster.leader()).name).not.toBe(leader.name);
  });
});
