// Replicas that show a commit only some time after it.
import type { ClusterUnderTest } from '../patroni/cluster-under-test.ts';
import { waitUntil } from '../waiting/wait.ts';

/** By the primary's clock and the replica's own. Resolves when every replica does so. */
export async function delayReplay(cluster: ClusterUnderTest, delayMs: number): Promise<void> {
  await cluster.setReplayDelay(delayMs);
  const { name: primary } = await cluster.leader();
  const isDelayed = async (): Promise<boolean> => {
    const replicas = cluster.members().filter(({ name }) => name !== primary);
    const sql = "select setting from pg_settings where name = 'recovery_min_apply_delay'";
    const answers = await Promise.all(replicas.map(({ name }) => cluster.sql(name, sql)));
    return answers.every(([row]) => row?.['setting'] === String(delayMs));
  };
  await waitUntil(`replicas ${delayMs} ms late`, isDelayed, {
    timeoutMs: 30_000,
    explain: () => cluster.describeState(),
  });
}
