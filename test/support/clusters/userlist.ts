// Files with secrets for a Pointsman: of roles whose sessions move, and of the role that asks for WAL positions.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClusterUnderTest } from '../patroni/cluster-under-test.ts';

/** A file with the verifier of the application's role, as PgBouncer has it. */
export async function userlist(cluster: ClusterUnderTest, directory: string): Promise<string> {
  const { name } = await cluster.leader();
  const { user } = cluster.app;
  const [row] = await cluster.sql(name, `select rolpassword from pg_authid where rolname = '${user}'`);
  const file = join(directory, 'userlist.txt');
  await writeFile(file, `"${user}" "${String(row?.['rolpassword'])}"\n`, { mode: 0o600 });
  return file;
}

/** The section `questions`: the application's own role asks. */
export async function questions(cluster: ClusterUnderTest, directory: string): Promise<Record<string, string>> {
  const { user, password } = cluster.app;
  const file = join(directory, 'questions-password');
  await writeFile(file, `${password}\n`, { mode: 0o600 });
  return { user, password_file: file };
}
