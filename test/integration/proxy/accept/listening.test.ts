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

  constructor() {
    this.listeners = new Listeners({
      onConnection: (_, client) => {
        this.taken += 1;
        client.destroy();
      },
      onFailure: () => {},
    });
    labs.push(this);
  }

  async listen(address: Address, reusePort?: boolean): Promise<PreparedListeners> {
    const prepared = await this.listeners.prepare([{ address, pool: 'write', reusePort }]);
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
  await first.listen(address, true);
  await second.listen(address, true);
  await Promise.all(Array.from({ length: 50 }, () => connectRaw(address)));
  await until('every client is taken', () => first.taken + second.taken === 50);
  await first.listeners.closeWhenTaken();
  const before = second.taken;
  await connectRaw(address);
  await until('the other one takes all that come', () => second.taken === before + 1);
});

test('the error for a port that is not shared names the missing setting', async () => {
  const address = await aFreeAddress();
  await new Lab().listen(address);
  expect(await new Lab().listen(address, true)).toEqual({
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
