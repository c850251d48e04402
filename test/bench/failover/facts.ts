// The surroundings of the figures: the machine and the versions.
import { execFile } from 'node:child_process';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { promisify } from 'node:util';
import { patroniAvailability } from '../../support/patroni/availability.ts';
import { findHaproxy } from './haproxy.ts';

const run = promisify(execFile);

/** One line each: the machine, and the version of each program. */
export async function facts(): Promise<readonly string[]> {
  return [...(await clusterFacts()), await version(findHaproxy() ?? 'haproxy', ['-v'])];
}

/** The same without other proxies. */
export async function clusterFacts(): Promise<readonly string[]> {
  const { installation } = available();
  const [firstCpu] = cpus();
  return [
    `${availableParallelism()} cores (${firstCpu?.model ?? 'unknown'}), ${process.platform} ${process.arch}; ` +
      'clients, proxies and cluster share them',
    `load average of the machine before the run: ${loadavg()[0]?.toFixed(1)}`,
    `Node ${process.version}`,
    await version(installation.patroni, ['--version']),
    await version(`${installation.postgresBinDir}/postgres`, ['--version']),
    await version(installation.etcd, ['--version']),
    await version(installation.python, [
      '-c',
      "import psycopg2 as p; print('libpq %s in psycopg2 %s' " +
        '% (p.extensions.libpq_version(), p.__version__.split()[0]))',
    ]),
  ];
}

function available() {
  const availability = patroniAvailability();
  if (!availability.available) throw new Error(availability.howToInstall);
  return availability;
}

async function version(command: string, args: readonly string[]): Promise<string> {
  const { stdout } = await run(command, args, { env: {} });
  return stdout.split('\n', 1)[0] ?? '';
}
