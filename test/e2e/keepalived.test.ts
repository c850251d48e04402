// The example for keepalived in deploy/two-of-them.md, word for word, on two hosts that are network namespaces: the
// address is at one of them, and moves while the Pointsman there still serves. No member of a cluster is needed.
import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { stringify } from 'yaml';
import { MAIN } from '../support/processes/program.ts';
import { findExecutable } from '../support/patroni/availability.ts';
import { whyNoOwnNetwork } from '../support/processes/own-network.ts';
import { describeUnless } from '../support/runner/unless-missing.ts';
import { until } from '../support/waiting/until.ts';

const PAGE = new URL('../../deploy/two-of-them.md', import.meta.url);
const SHARED = '10.0.0.100';
const WITHIN_MS = 60_000;
const env = { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin` };
const run = promisify(execFile);

const CONFIG = {
  cluster: {
    discovery: 'static',
    members: [{ name: 'pg-1', api: 'http://127.0.0.1:1', postgres: '127.0.0.1:2' }],
  },
  listeners: [{ address: '*:6432', pool: 'write' }],
  admin: { address: '*:8432' },
  shutdown: { grace: '10s', wait: '0s', drain_timeout: '0s' },
};

function whyNot(): string | undefined {
  const hasIt = ['keepalived', '../sbin/keepalived'].some((name) => findExecutable(name) !== undefined);
  return hasIt ? whyNoOwnNetwork() : 'keepalived: apt-get install keepalived';
}

/** What the page tells to write on both hosts. */
function example(): string {
  const [, text] = /^```\n(global_defs [^]*?)^```$/m.exec(readFileSync(PAGE, 'utf8')) ?? [];
  if (text === undefined) throw new Error('the page has no example');
  return text;
}

async function ip(...args: readonly string[]): Promise<string> {
  return (await run('ip', args, { env })).stdout;
}

/** Three namespaces: two hosts, and the network between them with a client on it. */
async function startNetwork(): Promise<{ readonly hosts: readonly [string, string]; readonly network: string }> {
  const [a, b, network] = ['a', 'b', 'net'].map((part) => `pm${process.pid}${part}`);
  if (a === undefined || b === undefined || network === undefined) throw new Error('no names');
  for (const name of [a, b, network]) {
    await ip('netns', 'add', name);
    await ip('-n', name, 'link', 'set', 'lo', 'up');
  }
  await ip('-n', network, 'link', 'add', 'br0', 'type', 'bridge');
  await ip('-n', network, 'addr', 'add', '10.0.0.9/24', 'dev', 'br0');
  await ip('-n', network, 'link', 'set', 'br0', 'up');
  for (const [at, host] of [a, b].entries()) {
    await ip('-n', network, 'link', 'add', `port${at}`, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', host);
    await ip('-n', network, 'link', 'set', `port${at}`, 'master', 'br0', 'up');
    await ip('-n', host, 'addr', 'add', `10.0.0.${5 + at}/24`, 'dev', 'eth0');
    await ip('-n', host, 'link', 'set', 'eth0', 'up');
  }
  return { hosts: [a, b], network };
}

describeUnless(whyNot(), 'keepalived', () => {
  it('the address moves when a Pointsman stops, before it stops to serve', { timeout: 3 * WITHIN_MS }, async () => {
    const directory = mkdtempSync(join(tmpdir(), 'pointsman-keepalived-'));
    const children: ChildProcess[] = [];
    const { hosts, network } = await startNetwork();
    const start = (host: string, ...command: readonly string[]): ChildProcess => {
      const child = spawn('ip', ['netns', 'exec', host, ...command], { env, stdio: 'ignore' });
      children.push(child);
      return child;
    };
    try {
      writeFileSync(join(directory, 'pointsman.yaml'), stringify(CONFIG));
      writeFileSync(join(directory, 'keepalived.conf'), example(), { mode: 0o644 });
      const pointsmen = hosts.map((host) =>
        start(host, process.execPath, MAIN, 'run', '-c', join(directory, 'pointsman.yaml')),
      );
      for (const host of hosts) {
        const files = ['pid', 'vrrp_pid'].map((name) => `--${name}=${join(directory, `${host}.${name}`)}`);
        start(
          host,
          'keepalived',
          '--dont-fork',
          '--vrrp',
          `--use-file=${join(directory, 'keepalived.conf')}`,
          ...files,
        );
      }
      const holders = async (): Promise<readonly number[]> => {
        const shown = await Promise.all(hosts.map((host) => ip('-n', host, 'addr', 'show', 'dev', 'eth0')));
        return shown.flatMap((text, at) => (text.includes(`${SHARED}/`) ? [at] : []));
      };
      const isServed = async (): Promise<boolean> => {
        const asking = ['netns', 'exec', network, 'curl', '-fsS', '-m', '2', `http://${SHARED}:8432/livez`];
        return run('ip', asking, { env }).then(
          () => true,
          () => false,
        );
      };
      const first = await until(
        'a host with the address',
        async () => ((await holders()).length === 1 ? holders() : false),
        WITHIN_MS,
      );
      await until('an answer at the address', isServed, WITHIN_MS);
      const [held = 0] = first;
      const old = pointsmen[held];
      old?.kill('SIGTERM');
      await until('the address at the other host', async () => (await holders())[0] === 1 - held, WITHIN_MS);
      expect(old?.exitCode, 'it still serves').toBeNull();
      await until('an answer at the address again', isServed, WITHIN_MS);
    } finally {
      for (const child of children.toReversed()) {
        const ended = new Promise((resolve) => void child.once('exit', resolve));
        if (child.exitCode === null && child.signalCode === null && child.kill('SIGTERM')) await ended;
      }
      for (const name of [...hosts, network]) await ip('netns', 'delete', name);
      rmSync(directory, { recursive: true });
    }
  });
});
