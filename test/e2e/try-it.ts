// `npm start`: a real Patroni cluster of three members on loopback with Pointsman before it, to try by hand until Ctrl-C. For
// trying only: the data is gone at the end.
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { patroniAvailability } from '../support/patroni/availability.ts';
import type { PatroniCluster } from '../support/patroni/cluster.ts';
import { startPatroniCluster } from '../support/patroni/start-cluster.ts';
import { configFor } from '../support/pointsman-config.ts';

const WRITE = '127.0.0.1:6432';
const READ = '127.0.0.1:6433';
const ADMIN = '127.0.0.1:8432';

function banner(cluster: PatroniCluster): string {
  const { user, password, database } = cluster.app;
  const psql = (port: string) => `PGPASSWORD=${password} psql -h 127.0.0.1 -p ${port} -U ${user} ${database}`;
  const members = cluster.members().map(({ name, host, port, api }) => `  ${name}  ${host}:${port}  ${api}`);
  const first = cluster.members()[0]?.api ?? '';
  return [
    '',
    'Members:',
    ...members,
    '',
    `Write:       ${psql('6432')} -c 'create table if not exists t (n int); insert into t values (1)'`,
    `Read:        ${psql('6433')} -c 'select count(*), pg_is_in_recovery() from t'`,
    `Status:      curl -s http://${ADMIN}/status`,
    `Metrics:     curl -s http://${ADMIN}/metrics`,
    `Switchover:  curl -s ${first}/switchover -d '{"leader": "pg-1"}'`,
    'End:         Ctrl-C',
    '',
  ].join('\n');
}

async function main(): Promise<void> {
  const availability = patroniAvailability();
  if (!availability.available) {
    console.error(
      `A real cluster needs PostgreSQL, Patroni and etcd: npm run prerequisites, or ${availability.howToInstall}`,
    );
    process.exitCode = 1;
    return;
  }
  console.log('Starting etcd and three members (about 15 s) ...');
  const cluster = await startPatroniCluster();
  const directory = await mkdtemp(join(tmpdir(), 'pointsman-try-'));
  try {
    const file = join(directory, 'pointsman.yaml');
    const config = configFor(cluster, {
      listeners: [
        { address: WRITE, pool: 'write' },
        { address: READ, pool: 'read' },
      ],
      admin: { address: ADMIN },
      shutdown: { grace: 0, drain: '1s' },
      log: { level: 'info', format: 'auto' },
    });
    await writeFile(file, stringify(config));
    console.log(banner(cluster));
    const main = new URL('../../src/main.ts', import.meta.url).pathname;
    // In a process group of its own: a second signal means "at once", so each Ctrl-C may reach it only through here.
    const child = spawn(process.execPath, [main, 'run', '-c', file], { stdio: 'inherit', detached: true });
    const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
    process.exitCode = (await exited) ?? 1;
  } finally {
    await cluster.destroy();
    await rm(directory, { recursive: true, force: true });
  }
}

await main();
