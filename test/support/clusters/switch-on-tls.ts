// TLS at the servers of a cluster under test, with the certificate of test/fixtures/tls. A reload switches it on.
import type { ClusterUnderTest } from '../patroni/cluster-under-test.ts';
import { SERVER } from '../values/tls-files.ts';
import { readFileSync } from 'node:fs';

/** Returns when every member says so. */
export async function switchOnTls(cluster: ClusterUnderTest): Promise<void> {
  const files = [
    ['server.crt', SERVER.cert],
    ['server.key', SERVER.key],
  ] as const;
  for (const { name } of cluster.members()) {
    for (const [file, source] of files) {
      // The server writes it itself, as its own account and in its own directory.
      const lines = `select unnest(string_to_array('${readFileSync(source, 'utf8').trim()}', e'\n'))`;
      await cluster.sql(name, `copy (${lines}) to program 'umask 077; cat > ${file}'`);
    }
  }
  await cluster.patchConfig({ postgresql: { parameters: { ssl: 'on' } } });
  const isOn = async ({ name }: { readonly name: string }): Promise<boolean> =>
    (await cluster.sql(name, 'show ssl'))[0]?.['ssl'] === 'on';
  const areOn = async (): Promise<boolean> => (await Promise.all(cluster.members().map(isOn))).every(Boolean);
  await cluster.waitUntil('TLS at every server', areOn, 20_000);
}
