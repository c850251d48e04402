// A real Patroni whose API wants a password for requests that change something.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { directControl } from '../support/clusters/direct-control.ts';
import type { PatroniCluster } from '../support/patroni/cluster.ts';
import { describeOnPatroni } from '../support/patroni/describe-on-patroni.ts';
import { startPatroniCluster } from '../support/patroni/start-cluster.ts';

const AUTH = { username: 'operator', password: 'correct horse' };
const RELOAD = { kind: 'reload', member: 'pg-1' } as const;

describeOnPatroni('Patroni with restapi.authentication', () => {
  let cluster: PatroniCluster;
  const directory = mkdtempSync(join(tmpdir(), 'pointsman-credentials-'));
  const passwordFile = join(directory, 'password');

  beforeAll(async () => {
    cluster = await startPatroniCluster({ members: 2, apiAuthentication: AUTH });
  });
  afterAll(async () => {
    await cluster.destroy();
    rmSync(directory, { recursive: true });
  });

  const control = (auth?: { readonly password?: string; readonly passwordFile?: string }) =>
    directControl(
      cluster.members().map(({ api }) => api),
      {
        api: {
          tls: undefined,
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
});
