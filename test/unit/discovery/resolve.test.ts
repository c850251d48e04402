import { expect, test } from 'vitest';
import { createResolve, systemLookup } from '../../../src/discovery/resolve.ts';
import type { Lookup } from '../../../src/discovery/resolve.ts';
import { ManualClock } from '../../support/manual-clock.ts';

function nameServer() {
  const clock = new ManualClock();
  const asked: string[] = [];
  let answer: Lookup = systemLookup;
  const resolve = createResolve(
    (host) => {
      asked.push(host);
      return answer(host);
    },
    clock,
    2000,
  );
  return {
    clock,
    asked,
    resolve,
    says: (...addresses: string[]) => (answer = () => Promise.resolve(addresses)),
    fails: (code: string) => (answer = () => Promise.reject(Object.assign(new Error(code), { code }))),
    throws: () =>
      (answer = () => {
        throw new Error('at once');
      }),
    hangs: () => (answer = () => new Promise(() => {})),
  };
}

test('an address needs no question', async () => {
  const { resolve, asked } = nameServer();
  expect(await resolve('::ffff:10.0.0.1')).toEqual({ kind: 'resolved', addresses: ['10.0.0.1'], isStale: false });
  expect(asked).toEqual([]);
});

test('the last good addresses stand while DNS fails', async () => {
  const dns = nameServer();
  dns.says('10.0.0.1');
  await dns.resolve('pg1');
  dns.fails('EAI_AGAIN');
  expect(await dns.resolve('pg1')).toEqual({ kind: 'resolved', addresses: ['10.0.0.1'], isStale: true });
  expect(await dns.resolve('pg2')).toEqual({ kind: 'unresolved', why: 'pg2 could not be resolved: EAI_AGAIN' });
  dns.says();
  expect(await dns.resolve('pg1')).toMatchObject({ addresses: ['10.0.0.1'], isStale: true });
  dns.throws();
  expect(await dns.resolve('pg1')).toMatchObject({ isStale: true });
  dns.says('10.0.0.9');
  expect(await dns.resolve('pg1')).toEqual({ kind: 'resolved', addresses: ['10.0.0.9'], isStale: false });
});

test('a hanging lookup ends in time, and is not asked again meanwhile', async () => {
  const dns = nameServer();
  dns.hangs();
  const first = dns.resolve('pg1');
  const second = dns.resolve('pg1');
  await dns.clock.advance(2000);
  expect(await first).toMatchObject({ kind: 'unresolved', why: expect.stringContaining('2000 ms') });
  expect(await second).toMatchObject({ kind: 'unresolved' });
  const third = dns.resolve('pg1');
  await dns.clock.advance(2000);
  await third;
  expect(dns.asked).toEqual(['pg1']);
  dns.says('10.0.0.2');
  expect(await dns.resolve('pg2')).toMatchObject({ addresses: ['10.0.0.2'] });
});

test('an address in use stays first while the name has it', async () => {
  const dns = nameServer();
  dns.says('10.0.0.1', '10.0.0.2');
  await dns.resolve('pg1');
  dns.says('10.0.0.2', '10.0.0.1');
  expect(await dns.resolve('pg1')).toMatchObject({ addresses: ['10.0.0.1', '10.0.0.2'] });
  dns.says('10.0.0.2', '10.0.0.3');
  expect(await dns.resolve('pg1')).toMatchObject({ addresses: ['10.0.0.2', '10.0.0.3'] });
});

test('what is no address in an answer is left out', async () => {
  const dns = nameServer();
  dns.says('fe80::1%eth0', 'nonsense', '::ffff:10.0.0.5');
  expect(await dns.resolve('pg1')).toMatchObject({ addresses: ['10.0.0.5'] });
});
