// Scenario 41: no local port is left for a connect. The test runs in its own network, which has two ports.
import { execFile, execFileSync } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { itUnless } from '../../support/runner/unless-missing.ts';

const IN_A_NETWORK_OF_ITS_OWN = ['-rn', 'sh', '-c'];
const TWO_PORTS = 'ip link set lo up && echo "50000 50001" > /proc/sys/net/ipv4/ip_local_port_range';

function whyNoNetworkOfItsOwn(): string | undefined {
  try {
    execFileSync('unshare', [...IN_A_NETWORK_OF_ITS_OWN, TWO_PORTS], { stdio: 'ignore' });
    return undefined;
  } catch {
    return 'Linux, unshare and ip (npm run prerequisites), and the privilege to make a network namespace';
  }
}

const DIAL_FIVE = `
  import { createServer } from 'node:net';
  import { dialTcp } from '${new URL('../../../src/proxy/connect/dial.ts', import.meta.url).href}';
  import { createSystemClock } from '${new URL('../../../src/app/system-clock.ts', import.meta.url).href}';
  const clock = createSystemClock(process.hrtime);
  createServer().listen(5432, '127.0.0.1', () => {
    const results = [];
    for (let count = 0; count < 5; count += 1) {
      dialTcp({ host: '127.0.0.1', port: 5432 }, { clock, timeoutMs: 5_000 }, ({ kind, isLocalFault, detail }) => {
        results.push({ kind, isLocalFault, detail });
        if (results.length === 5) process.stdout.write(JSON.stringify(results), () => process.exit());
      });
    }
  });
`;

itUnless(
  whyNoNetworkOfItsOwn(),
  'scenario 41: ephemeral ports exhausted: a fault of this machine, not of the member',
  async () => {
    const script = `${TWO_PORTS} && exec "$0" --input-type=module -e "$1"`;
    const args = [...IN_A_NETWORK_OF_ITS_OWN, script, process.execPath, DIAL_FIVE];
    const { stdout } = await promisify(execFile)('unshare', args);
    const failed = { kind: 'failed', isLocalFault: true, detail: 'no local port is free' };
    const results: unknown = JSON.parse(stdout);
    expect(results).toHaveLength(5);
    expect(results).toEqual(expect.arrayContaining([{ kind: 'connected' }, failed]));
  },
);
