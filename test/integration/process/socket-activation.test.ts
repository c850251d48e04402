// Listening sockets from systemd. The real systemd-socket-activate binds, waits for the first client and executes
// Pointsman.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { addressText } from '../../../src/model/member.ts';
import type { Address } from '../../../src/model/member.ts';
import { FakeCluster, freeAddresses } from '../../support/labs/app-lab.ts';
import type { ConfigFile } from '../../support/labs/app-lab.ts';
import { askingClient, isServed } from '../../support/sockets/echo-session.ts';
import { findExecutable } from '../../support/patroni/availability.ts';
import { describeUnless } from '../../support/runner/unless-missing.ts';
import { until } from '../../support/waiting/until.ts';
import { MAIN } from '../../support/processes/program.ts';

const missing =
  findExecutable('systemd-socket-activate') === undefined
    ? 'systemd-socket-activate: apt-get install systemd'
    : undefined;

describeUnless(missing, 'sockets that systemd passes', () => {
  let cluster: FakeCluster;
  let directory: string;
  let child: ChildProcess | undefined;
  let said: string;

  beforeEach(async () => {
    cluster = await FakeCluster.start();
    directory = await mkdtemp(join(tmpdir(), 'pointsman-activation-'));
    said = '';
  });

  afterEach(async () => {
    if (child !== undefined && child.exitCode === null && child.signalCode === null) {
      const gone = new Promise((resolve) => child?.once('exit', resolve));
      child.kill('SIGKILL');
      await gone;
    }
    child = undefined;
    await rm(directory, { recursive: true, force: true });
    await cluster.stop();
  });

  /** Binds `passed`; the configuration names `named`, the first for writes. */
  async function activate(passed: readonly Address[], named: readonly Address[], changes: ConfigFile = {}) {
    const file = join(directory, 'pointsman.yaml');
    const pools = ['write', 'read'];
    const config = {
      cluster: cluster.section(),
      listeners: named.map((address, i) => ({ address: addressText(address), pool: pools[i] })),
      admin: { address: '127.0.0.1:0' },
      log: { format: 'json' },
      ...changes,
    };
    await writeFile(file, stringify(config));
    const listen = passed.flatMap((address) => ['--listen', addressText(address)]);
    const names = `--fdname=${passed.map((_, i) => `socket-${i}`).join(':')}`;
    child = spawn('systemd-socket-activate', [...listen, names, process.execPath, MAIN, 'run', '-c', file]);
    child.stdout?.on('data', (words: Buffer) => (said += words.toString()));
    child.stderr?.on('data', (words: Buffer) => (said += words.toString()));
    await until('the sockets', () => said.split('Listening on').length > passed.length);
  }

  test('the client whose connect starts Pointsman is served, and so are the clients after it', async () => {
    const addresses = await freeAddresses(2);
    await activate(addresses, addresses);
    const clients = await Promise.all([...addresses, ...addresses].map(askingClient));
    await until(`sessions; ${said}`, () => clients.every(isServed));
    for (const client of clients) client.socket.destroy();
  });

  test('a listener without a socket binds its own', async () => {
    const [write, read] = await freeAddresses(2);
    if (write === undefined || read === undefined) throw new Error('no free address');
    await activate([write], [write, read]);
    const first = await askingClient(write);
    await until('a session', () => isServed(first));
    const second = await askingClient(read);
    await until('a session', () => isServed(second));
    for (const client of [first, second]) client.socket.destroy();
  });

  test('a socket without a listener ends the start, and the message names both', async () => {
    const [passed, named] = await freeAddresses(2);
    if (passed === undefined || named === undefined) throw new Error('no free address');
    await activate([passed], [named]);
    const code = new Promise((resolve) => child?.once('close', resolve));
    const client = await askingClient(passed);
    expect(await code).toBe(1);
    expect(said).toContain(
      `pointsman: the socket that was passed as "socket-0" is bound to ${addressText(passed)}, ` +
        `which no listener names: there are ${addressText(named)}`,
    );
    client.socket.destroy();
  });

  test('several workers cannot share it: the start ends and names the setting', async () => {
    const [address] = await freeAddresses(1);
    if (address === undefined) throw new Error('no free address');
    await activate([address], [address], { workers: 2 });
    const code = new Promise((resolve) => child?.once('close', resolve));
    const client = await askingClient(address);
    expect(await code).toBe(1);
    expect(said).toContain(
      'pointsman: workers: the socket that was passed as "socket-0" is for one process alone: set workers: 1',
    );
    client.socket.destroy();
  });
});
