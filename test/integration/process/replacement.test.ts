// One process replaces another on a socket that outlives both. No connect fails, and live sessions stay.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { addressText } from '../../../src/model/member.ts';
import type { Address } from '../../../src/model/member.ts';
import { FakeCluster, freeAddresses } from '../../support/labs/app-lab.ts';
import { echoSession, stillEchoes } from '../../support/sockets/echo-session.ts';
import { findExecutable } from '../../support/patroni/availability.ts';
import { SocketHolder } from '../../support/processes/socket-holder.ts';
import { waitUntil } from '../../support/waiting/wait.ts';
import { describeUnless } from '../../support/runner/unless-missing.ts';
import { until } from '../../support/waiting/until.ts';

const missing = findExecutable('python3') === undefined ? 'python3: apt-get install python3' : undefined;
const AT_A_TIME = 8;

async function says(admin: Address, status: string): Promise<void> {
  const ask = async (): Promise<boolean> => {
    const response = await fetch(`http://${addressText(admin)}/readyz`).catch(() => undefined);
    return String(response?.status) === status;
  };
  await waitUntil(`${status} of ${addressText(admin)}`, ask, { timeoutMs: 20_000, everyMs: 20 });
}

describeUnless(missing, 'one process replaces the other', () => {
  let cluster: FakeCluster;
  let directory: string;
  let holder: SocketHolder;

  beforeEach(async () => {
    cluster = await FakeCluster.start();
    directory = await mkdtemp(join(tmpdir(), 'pointsman-replacement-'));
    holder = await SocketHolder.open();
  });

  afterEach(async () => {
    holder.close();
    await rm(directory, { recursive: true, force: true });
    await cluster.stop();
  });

  /** Starts a process as its own unit would: the same file, another admin address. Resolves when it is ready. */
  async function start(admin: Address): Promise<number> {
    const file = join(directory, `${admin.port}.yaml`);
    const config = {
      cluster: cluster.section(),
      listeners: [{ address: addressText(holder.address), pool: 'write' }],
      admin: { address: addressText(admin) },
      shutdown: { grace: '0s', wait: '60s', drain_timeout: '5s' },
    };
    await writeFile(file, stringify(config));
    const pid = await holder.start(file);
    await says(admin, '200');
    return pid;
  }

  /** Opens sessions one after the other, several at a time, until it is stopped. */
  function load(): { readonly done: () => number; readonly stop: () => Promise<readonly unknown[]> } {
    const failures: unknown[] = [];
    let done = 0;
    const end = new AbortController();
    const client = async (): Promise<void> => {
      while (!end.signal.aborted) {
        try {
          const session = await echoSession(holder.address);
          await stillEchoes(session);
          session.socket.end();
          done += 1;
        } catch (error) {
          failures.push(error);
        }
      }
    };
    const clients = Array.from({ length: AT_A_TIME }, client);
    return {
      done: () => done,
      stop: async () => {
        end.abort();
        await Promise.all(clients);
        return failures;
      },
    };
  }

  test('under load: no connect fails, and live sessions end by themselves', async () => {
    const [one, other] = await freeAddresses(2);
    if (one === undefined || other === undefined) throw new Error('no free address');
    const before = await start(one);
    const live = await Promise.all(Array.from({ length: 5 }, () => echoSession(holder.address)));
    const clients = load();
    await until('load', () => clients.done() > 20);
    await start(other);
    process.kill(before, 'SIGTERM');
    await says(one, '503');
    const sofar = clients.done();
    await until('as much load after that', () => clients.done() > sofar + 200, 15_000);
    expect(await clients.stop()).toEqual([]);
    for (const session of live) await stillEchoes(session);
    for (const session of live) session.socket.end();
    expect(await holder.exited(before)).toBe(0);
    await echoSession(holder.address).then((session) => session.socket.end());
  }, 60_000);

  test('no process runs: a client waits in the queue for the next process', async () => {
    const [one, other] = await freeAddresses(2);
    if (one === undefined || other === undefined) throw new Error('no free address');
    const before = await start(one);
    process.kill(before, 'SIGTERM');
    expect(await holder.exited(before)).toBe(0);
    const waiting = echoSession(holder.address);
    await start(other);
    (await waiting).socket.end();
  }, 60_000);
});
