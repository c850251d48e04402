// A network namespace of this run, where packets can be dropped. netem is not needed, netfilter is enough.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { findExecutable } from '../../support/patroni/availability.ts';

const MARK = 'POINTSMAN_BENCH_ISOLATED';

export function isIsolated(): boolean {
  return process.env[MARK] !== undefined;
}

/** Isolation needs root and the tools of Debian's `iproute2` and `iptables`. */
export function canIsolate(): boolean {
  const tools = ['unshare', '../sbin/ip', '../sbin/iptables'];
  return process.getuid?.() === 0 && tools.every((tool) => findExecutable(tool) !== undefined);
}

/** Runs this program again in its own namespace; resolves with its exit code. */
export async function runIsolated(): Promise<number> {
  const script = 'ip link set lo up && exec "$0" "$@"';
  const command = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  const child = spawn('unshare', ['--net', 'sh', '-c', script, ...command], {
    stdio: 'inherit',
    env: { ...process.env, [MARK]: '1', PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin` },
  });
  // The child gets the signal as well and ends its own children.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
  const [code] = await once(child, 'exit');
  return typeof code === 'number' ? code : 1;
}
