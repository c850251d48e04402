// Makes a primary write WAL that changes no table: logical messages.
import type { Sandbox, SandboxMember } from '../sandbox.ts';
import { runStatement } from './statement.ts';

export async function writeWal(primary: SandboxMember, as: Sandbox['superuser'], megabytes: number): Promise<void> {
  const { host, port } = primary;
  const url = `postgresql://${as.user}:${encodeURIComponent(as.password)}@${host}:${port}/postgres`;
  const message = `pg_logical_emit_message(false, 'pointsman sandbox', repeat('x', 1024 * 1024))`;
  await runStatement(url, `select count(${message}) from generate_series(1, ${megabytes})`);
}
