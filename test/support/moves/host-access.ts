// Further lines of a server's pg_hba.conf, before its own.
import type { ClusterUnderTest } from '../patroni/cluster-under-test.ts';

/** Changes pg_hba.conf of the only member. The server writes its file itself; the lines hold when this returns. */
export async function prependHostAccess(cluster: ClusterUnderTest, lines: readonly string[]): Promise<void> {
  const { name } = await cluster.leader();
  const [shown] = await cluster.sql(name, `select current_setting('hba_file') as file`);
  const file = String(shown?.['file']);
  const all = `select unnest(array[${lines.map((line) => `'${line}'`).join(',')}]) union all select * from (
    select unnest(string_to_array(rtrim(pg_read_file('${file}'), e'\\n'), e'\\n'))) as before`;
  await cluster.sql(name, `copy (${all}) to program 'cat > "${file}.new" && mv "${file}.new" "${file}"'`);
  await cluster.sql(name, 'select pg_reload_conf()');
  const first = lines[0]?.split(/\s+/)[2] ?? '';
  await cluster.waitUntil(
    'the new pg_hba.conf',
    async () => {
      const rows = await cluster.sql(name, `select 1 from pg_hba_file_rules where '${first}' = any (user_name)`);
      return rows.length > 0;
    },
    10_000,
  );
}
