// Listening sockets that several processes share, and the connections in the kernel's queue when listening ends.
import { execFileSync } from 'node:child_process';
import { afterEach, expect, test } from 'vitest';
import type { Address } from '../../../../src/model/member.ts';
import { Listeners } from '../../../../src/proxy/accept/listeners.ts';
import type { PreparedListeners } from '../../../../src/proxy/accept/listeners.ts';
import { freeAddresses } from '../../../support/labs/app-lab.ts';
import { connectRaw } from '../../../support/sockets/raw-client.ts';
import { until } from '../../../support/waiting/until.ts';

const labs: Lab[] = [];

afterEach(() => {
  for (const { listeners } of labs.splice(0)) listeners.close();
});

class Lab {
  readonly listeners: Listeners;
  taken = 0;

  constructor({ isServing = true } = {}) {
    this.listeners = new Listeners({
      onConnection: (_, client) => {
        this.taken += 1;
        client.destroy();
      },
      onFailure: () => {},
    });
    if (isServing) this.listeners.serve();
    labs.push(this);
  }

  async listen(...addresses: readonly Address[]): Promise<PreparedListeners> {
    return this.#listen(addresses);
  }

  async share(address: Address): Promise<PreparedListeners> {
    return this.#listen([address], true);
  }

  async #listen(addresses: readonly Address[], reusePort?: boolean): Promise<PreparedListeners> {
    const prepared = await this.listeners.prepare(addresses.map((address) => ({ address, pool: 'write', reusePort })));
    if (prepared.kind === 'prepared') prepared.apply();
    return prepared;
  }
}

async function aFreeAddress(): Promise<Address> {
  const [address] = await freeAddresses(1);
  if (address === undefined) throw new Error('no free address');
  return address;
}

/** A separate process connects this many times, while this process stands still. */
function connectFromOutside({ host, port }: Address, times: number): void {
  const script = `
    let left = ${times};
    for (let i = 0; i < ${times}; i += 1) {
      require('node:net').connect(${port}, '${host}', () => (left -= 1) === 0 && process.exit());
    }`;
  execFileSync(process.execPath, ['-e', script], { timeout: 10_000 });
}

test('two processes share a port when both allow it', async () => {
  const address = await aFreeAddress();
  const [first, second] = [new Lab(), new Lab()];
  await first.share(address);
  await second.share(address);
  await Promise.all(Array.from({ length: 50 }, () => connectRaw(address)));
  await until('every client is taken', () => first.taken + second.taken === 50);
  await first.listeners.closeWhenTaken();
  const before = second.taken;
  await connectRaw(address);
  await until('the other one takes all that come', () => second.taken === before + 1);
});

test('clients wait until they are served, those of a listener that a reload adds meanwhile, too', async () => {
  const addresses = await freeAddresses(2);
  const lab = new Lab({ isServing: false });
  for (const count of [1, 2]) await lab.listen(...addresses.slice(0, count));
  const clients = await Promise.all(addresses.map((address) => connectRaw(address)));
  // A client that connects later is accepted later.
  await Promise.all(addresses.map((address) => connectRaw(address)));
  expect(lab.taken).toBe(0);
  lab.listeners.serve();
  expect(lab.taken).toBeGreaterThanOrEqual(clients.length);
  await until('every client is taken', () => lab.taken === 2 * clients.length);
});

test('the error for a port that is not shared names the missing setting', async () => {
  const address = await aFreeAddress();
  await new Lab().listen(address);
  expect(await new Lab().share(address)).toEqual({
    kind: 'failed',
    message:
      `127.0.0.1:${address.port} is in use by another process that does not share it: ` +
      'it needs reuse_port too, and the same user',
  });
  expect(await new Lab().listen(address)).toMatchObject({
    message: `127.0.0.1:${address.port} is in use by another process`,
  });
});

test('connections in the queue when listening ends are accepted first', async () => {
  const address = await aFreeAddress();
  const lab = new Lab();
  await lab.listen(address);
  connectFromOutside(address, 300);
  expect(lab.taken).toBe(0);
  await lab.listeners.closeWhenTaken();
  expect(lab.taken).toBe(300);
});
