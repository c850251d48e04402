// A real PgBouncer between Pointsman and a member. It keeps the settings from its first connection to the server,
// in_hot_standby included.
import { Client } from 'pg';
import { expect, test } from 'vitest';
import { missingForSandbox } from '../../support/runner/sandbox-availability.ts';
import { AppLab, fileFor } from '../../support/labs/app-lab.ts';
import { FakeMember } from '../../support/fakes/fake-member.ts';
import { missingForPgbouncer, startPgbouncer } from '../../support/processes/pgbouncer.ts';
import { prepareServers, startReplication, untilStreaming } from '../../support/sandbox/postgres.ts';
import { describeUnless } from '../../support/runner/unless-missing.ts';
import type { Address } from '../../../src/model/member.ts';

async function answerAt(at: Address, statement: string): Promise<unknown> {
  const client = new Client({ ...at, user: 'app', database: 'postgres', ssl: false });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query(statement);
    return rows;
  } finally {
    await client.end();
  }
}

describeUnless(missingForPgbouncer ?? missingForSandbox, 'PgBouncer before a member', () => {
  test('a PgBouncer that served reads before the promotion of its member does not block writes', async () => {
    const servers = await prepareServers(2);
    const [primary, standby] = [servers.server(0), servers.server(1)];
    await startReplication(primary, standby);
    await untilStreaming(primary, standby);
    const bouncer = await startPgbouncer(standby, servers.superuser);
    expect(await answerAt(bouncer, 'select pg_is_in_recovery()')).toEqual([{ pg_is_in_recovery: true }]);
    await primary.stop('fast');
    await standby.promote();

    const api = await FakeMember.start('pg-1', { role: 'primary' });
    const lab = await AppLab.start(fileFor([{ api, postgres: { address: bouncer } }]));
    try {
      const write = lab.address('write');
      await expect(answerAt(write, 'select 1')).rejects.toMatchObject({ code: '57P03' });
      for (let times = 0; times < 3; times += 1) {
        expect(
          await answerAt(write, `create table t${times} as select 1 as one; select * from t${times}`),
        ).toBeUndefined();
      }
      expect(lab.said('standby_report_stale')).toHaveLength(1);
    } finally {
      await lab.app.stop();
      await api.stop();
    }
  }, 60_000);
});
