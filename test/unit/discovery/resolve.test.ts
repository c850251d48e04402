import { expect, test } from 'vitest';
import { createResolve } from '../../../src/discovery/resolve.ts';
import type { Lookup } from '../../../src/discovery/resolve.ts';
import { ManualClock } from '../../support/waiting/manual-clock.ts';

function notAsked(): Promise<never> {
  throw new Error('not asked yet');
}

function nameServer() {
  const clock = new ManualClock();
  const asked: string[] = [];
  let answer: Lookup = notAsked;
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
    ttl: (ttlMs: number, ...addresses: string[]) => (answer = () => Promise.resolve({ addresses, ttlMs })),
    asked,
    resolve,
    says: (...addresses: string[]) => (answer = () => Promise.resolve({ addresses })),
    fails: (code: string) => (answer = () => Promise.reject(Object.assign(new Error(code), { code }))),
    throws: () =>
      (answer = () => {
        throw new Error('at once');
      }),
    hangs: () => (answer = () => new Promise(() => {})),
  };
}

test('an address needs no lookup', async () => {
  const { resolve, asked } = nameServer();
  expect(await resolve('::ffff:10.0.0.1')).toEqual({ kind: 'resolved', addresses: ['10.0.0.1'], stale: undefined });
  expect(asked).toEqual([]);
});

test('the last good addresses stay while DNS fails', async () => {
  const dns = nameServer();
  dns.says('10.0.0.1');
  await dns.resolve('pg1');
  dns.fails('EAI_AGAIN');
  await dns.clock.advance(500);
  const stale = { since: 1500, why: 'EAI_AGAIN' };
  expect(await dns.resolve('pg1')).toEqual({ kind: 'resolved', addresses: ['10.0.0.1'], stale });
  expect(await dns.resolve('pg2')).toEqual({ kind: 'unresolved', why: 'pg2 could not be resolved: EAI_AGAIN' });
  dns.says();
  expect(await dns.resolve('pg1')).toMatchObject({
    addresses: ['10.0.0.1'],
    stale: { since: 1500, why: 'no address' },
  });
  dns.throws();
  expect(await dns.resolve('pg1')).toMatchObject({ stale: { since: 1500, why: 'at once' } });
  dns.says('10.0.0.9');
  expect(await dns.resolve('pg1')).toEqual({ kind: 'resolved', addresses: ['10.0.0.9'], stale: undefined });
});

test('a hanging lookup ends in time, and no second one starts meanwhile', async () => {
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

test('an address in use stays first while the name resolves to it', async () => {
  const dns = nameServer();
  dns.says('10.0.0.1', '10.0.0.2');
  await dns.resolve('pg1');
  dns.says('10.0.0.2', '10.0.0.1');
  expect(await dns.resolve('pg1')).toMatchObject({ addresses: ['10.0.0.1', '10.0.0.2'] });
  dns.says('10.0.0.2', '10.0.0.3');
  expect(await dns.resolve('pg1')).toMatchObject({ addresses: ['10.0.0.2', '10.0.0.3'] });
});

test('entries that are no address are left out of an answer', async () => {
  const dns = nameServer();
  dns.says('fe80::1%eth0', 'nonsense', '::ffff:10.0.0.5');
  expect(await dns.resolve('pg1')).toMatchObject({ addresses: ['10.0.0.5'] });
});

test('an answer is repeated for its TTL, from five seconds to a minute, and then looked up again', async () => {
  const dns = nameServer();
  for (const [ttlMs, freshMs] of [
    [0, 5000],
    [30_000, 30_000],
    [86_400_000, 60_000],
  ] as const) {
    dns.ttl(ttlMs, '10.0.0.1');
    await dns.resolve('pg1.test.');
    const asked = dns.asked.length;
    dns.ttl(ttlMs, '10.0.0.2');
    await dns.clock.advance(freshMs - 1);
    expect(await dns.resolve('pg1.test.')).toMatchObject({ addresses: ['10.0.0.1'], stale: undefined });
    expect(dns.asked).toHaveLength(asked);
    await dns.clock.advance(1);
    expect(await dns.resolve('pg1.test.')).toMatchObject({ addresses: ['10.0.0.2'] });
    await dns.clock.advance(60_000);
  }
});
