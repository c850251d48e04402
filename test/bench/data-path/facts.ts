// The surroundings of the figures: the machine and the versions.
import { arch, availableParallelism, cpus, loadavg, platform, release } from 'node:os';
import { findExecutable } from '../../support/patroni/availability.ts';
import { findHaproxy } from '../failover/haproxy.ts';
import { run } from './child.ts';
import type { BenchOptions } from './options.ts';
import { findPgbouncer } from './peers/pgbouncer.ts';

const PINNING: Readonly<Record<BenchOptions['pin'], string>> = {
  auto: 'pinned as test/bench/README.md says',
  apart: 'proxies pinned to the last core, all else to the others',
  together: 'everything pinned to the last core',
  none: 'nothing is pinned',
};

/** One line each: the machine, the pinning, and the version of each program. */
export async function facts({ pin, rounds, seconds, variants }: BenchOptions): Promise<readonly string[]> {
  return [
    `${availableParallelism()} cores (${cpus()[0]?.model.trim() ?? 'unknown'}), ` +
      `${platform()} ${release()} ${arch()}; ${PINNING[pin]}`,
    `load average before the run: ${load()}`,
    `${rounds} interleaved rounds, ${seconds} s per measurement`,
    `Node ${process.version}`,
    ...[...variants].map(
      ([name, { config, env, nodeFlags, node }]) => `${name}: ${JSON.stringify({ config, env, nodeFlags, node })}`,
    ),
    ...(await Promise.all([
      version(findHaproxy(), '-v'),
      version(findPgbouncer(), '--version'),
      version(findExecutable('postgres'), '--version'),
    ])),
  ];
}

/** The load averages of 1, 5 and 15 minutes. */
export function load(): string {
  return loadavg()
    .map((value) => value.toFixed(1))
    .join(' ');
}

async function version(command: string | undefined, option: string): Promise<string> {
  if (command === undefined) return 'missing: a peer';
  const [first = ''] = await run({ command, args: [option] });
  return first;
}
