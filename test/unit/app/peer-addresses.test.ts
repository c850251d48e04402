// The addresses of the Pointsmen that the setting `peers` names.
import { expect, test } from 'vitest';
import { createLocatePeer } from '../../../src/app/peer-addresses.ts';
import type { NameAddresses } from '../../../src/discovery/resolve.ts';
import { ManualClock } from '../../support/waiting/manual-clock.ts';

const PEER = { host: 'pointsmen.test', port: 6432 };

test('a name leads to each of its addresses that may be contacted, and is looked up every five seconds', async () => {
  const clock = new ManualClock();
  const asked: string[] = [];
  const addresses = ['10.0.0.5', '169.254.169.254', '10.0.0.6'];
  const locate = createLocatePeer(clock, (host) => {
    asked.push(host);
    return Promise.resolve({ addresses });
  });
  const both = ['10.0.0.5', '10.0.0.6'].map((host) => ({ host, port: 6432 }));
  expect(await locate(PEER)).toEqual(both);
  await clock.advance(4999);
  expect(await locate(PEER)).toEqual(both);
  expect(asked).toHaveLength(1);
  await clock.advance(1);
  await locate(PEER);
  expect(asked).toEqual(['pointsmen.test', 'pointsmen.test']);
});

test('an address needs no lookup, and a name that is not known leads nowhere', async () => {
  const locate = createLocatePeer(new ManualClock(), () => Promise.reject(new Error('ENOTFOUND')));
  expect(await locate({ host: '10.0.0.5', port: 6432 })).toEqual([{ host: '10.0.0.5', port: 6432 }]);
  expect(await locate({ host: '169.254.169.254', port: 6432 })).toEqual([]);
  expect(await locate(PEER)).toEqual([]);
});

test('while the name server is silent the last addresses are used, behind a quarter of a second', async () => {
  const clock = new ManualClock();
  let answer: Promise<NameAddresses> = Promise.resolve({ addresses: ['10.0.0.5'] });
  const locate = createLocatePeer(clock, () => answer);
  await locate(PEER);
  answer = new Promise(() => {});
  await clock.advance(5000);
  const located = locate(PEER);
  await clock.advance(250);
  expect(await located).toEqual([{ host: '10.0.0.5', port: 6432 }]);
});
