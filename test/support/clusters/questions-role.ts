// The role of deploy/reads.sql on a cluster, and the section of a configuration that asks by it.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ClusterUnderTest } from '../patroni/cluster-under-test.ts';

const ROLE = readFileSync(new URL('../../../deploy/reads.sql', import.meta.url), 'utf8');
const USER = 'pointsman_monitor';
const PASSWORD = 'monitor-1';

export interface QuestionsSection {
  readonly user: string;
  readonly password_file: string;
}

/** `directory`: for the file with the password. */
export async function questionsRole(cluster: ClusterUnderTest, directory: string): Promise<QuestionsSection> {
  const { name } = await cluster.leader();
  await cluster.sql(name, `${ROLE}; ALTER ROLE ${USER} PASSWORD '${PASSWORD}'`, { timeoutMs: 20_000 });
  const file = join(directory, 'monitor-password');
  writeFileSync(file, `${PASSWORD}\n`, { mode: 0o600 });
  return { user: USER, password_file: file };
}
