// A program in a network namespace of its own, where packets can vanish: a forgotten rule ends with the namespace and
// cannot affect other traffic.
import { execFile, execFileSync } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);
const env = { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin` };
const LOOPBACK = 'ip link set lo up';

/** PostgreSQL does not run as root, and only root may start it as somebody else in there. */
export function whyNoOwnNetwork(): string | undefined {
  try {
    const script = `test "$(id -u)" = 0 && ${LOOPBACK} && iptables --wait --list INPUT`;
    execFileSync('unshare', ['--net', 'sh', '-c', script], { env, stdio: 'ignore' });
    return undefined;
  } catch {
    return 'Linux, root, and unshare, ip and iptables (npm run prerequisites)';
  }
}

/** The module of this path runs with nothing but loopback. Resolves with its output. */
export async function runInOwnNetwork(module: string, timeoutMs: number, ...words: readonly string[]): Promise<string> {
  const command = ['--net', 'sh', '-c', `${LOOPBACK} && exec "$0" "$@"`, process.execPath, module, ...words];
  const { stdout } = await run('unshare', command, { env, timeout: timeoutMs });
  return stdout;
}

/** All namespaces have one lock, and Docker's engine takes it, too. */
async function iptables(...args: readonly string[]): Promise<void> {
  await run('iptables', ['--wait', ...args], { env });
}

/** Drops all packets that one of the matches of iptables fits; resolves with the function that ends it. */
async function dropMatching(matches: readonly (readonly string[])[]): Promise<() => Promise<void>> {
  const rules = matches.map((match) => ['INPUT', ...match, '--jump', 'DROP']);
  for (const rule of rules) await iptables('--insert', ...rule);
  return async () => {
    for (const rule of rules) await iptables('--delete', ...rule);
  };
}

/** To and from a host. */
export function dropPacketsOf(host: string): Promise<() => Promise<void>> {
  return dropMatching(['--destination', '--source'].map((side) => [side, host]));
}

/** To and from a TCP port. */
export function dropPacketsOfPort(port: number): Promise<() => Promise<void>> {
  return dropMatching(['--destination-port', '--source-port'].map((side) => ['--protocol', 'tcp', side, String(port)]));
}
