// Five drivers whose applications repeat transactions, on a PostgreSQL 18 whose primary changes, with
// `moves.on_stays: abort`: no connection is lost, no error is another one than 40001 or 25P02, and the ledger is exact.
// On Patroni, beside other proxies: `npm run bench:moves`.
import { expect } from 'vitest';
import { waitForCandidates } from '../../support/clusters/candidates.ts';
import { describeOnSandbox } from '../../support/clusters/describe-on-clusters.ts';
import { lostSessions } from '../../support/moves/expect-kept.ts';
import { movesConfig, prepareDatabase } from '../../support/moves/prepared-database.ts';
import { CREATE_LEDGER, judgeLedger, repeatingDrivers, RetryingClients } from '../../support/moves/retrying-clients.ts';
import { temporaryDirectory } from '../../support/moves/temporary-directory.ts';
import { Command } from '../../support/processes/command.ts';
import { itUnless } from '../../support/runner/unless-missing.ts';
import { until } from '../../support/waiting/until.ts';
import { ADMIN_TOKEN } from '../../support/values/canaries.ts';

const PATIENCE_MS = 40_000;
const MORE = 3;
const drivers = repeatingDrivers();
const absent = drivers.flatMap(({ missing }) => missing ?? []);
const NAME = 'repeating';

describeOnSandbox({ name: 'drivers that repeat their transactions', legs: ['plain'] }, (on) => {
  const directory = temporaryDirectory();
  const lab = on.clusterWithPointsman({
    sql: CREATE_LEDGER,
    async pointsman(cluster) {
      await prepareDatabase(cluster);
      return movesConfig(cluster, directory.path, { on_stays: 'abort', wait: '2s' });
    },
  });

  itUnless(absent.length === 0 ? undefined : absent.join('; '), 'G24: a switchover ends none of them', async () => {
    const { cluster, pointsman } = lab;
    for (const driver of drivers) await driver.prepare(directory.path);
    await waitForCandidates(lab);
    const target = { port: await pointsman.port('write'), as: cluster.app };
    const clients = RetryingClients.start(drivers, NAME, directory.path, target);
    try {
      await until('a transaction of each', () => clients.areWorking(), PATIENCE_MS);
      const admin = `127.0.0.1:${await pointsman.port('admin')}`;
      const options = ['--admin', admin, '--transaction-timeout', '2s', '--yes'];
      const command = new Command(['switchover', ...options], { POINTSMAN_ADMIN_TOKEN: ADMIN_TOKEN });
      expect([await command.ended(), command.output]).toEqual([0, expect.stringContaining('transactions rolled back')]);
      const before = clients.counts();
      await until('transactions afterwards', () => clients.behind(before, MORE).length === 0, PATIENCE_MS);
      const { errors, lost, repeated, ...told } = await clients.finish();
      expect({ errors, lost }, lostSessions(pointsman)).toEqual({ errors: [], lost: 0 });
      expect(repeated).toBeGreaterThan(0);
      expect(await judgeLedger(cluster, NAME, told)).toEqual({ missing: [], untold: [], halves: [] });
    } finally {
      await clients.stop();
    }
  });
});
