// WAL in bulk, to bring a replica behind.
import type { ClusterUnderTest } from '../patroni/cluster-under-test.ts';

/** Returns when the primary has written it. */
export async function writeWal(cluster: ClusterUnderTest, megabytes: number): Promise<void> {
  const { name } = await cluster.leader();
  const message = `pg_logical_emit_message(false, 'bulk', repeat('x', 1024 * 1024))`;
  await cluster.sql(name, `select ${message} from generate_series(1, ${megabytes})`, { timeoutMs: 20_000 });
}
