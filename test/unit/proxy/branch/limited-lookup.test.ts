// A silent name server of branches must not take every thread that resolves names.
import type { LookupFunction } from 'node:net';
import { expect, test } from 'vitest';
import { limitedLookup } from '../../../../src/proxy/branch/limited-lookup.ts';
import { asStepOf } from '../../../../src/proxy/fault.ts';
import type { Faulty } from '../../../../src/proxy/fault.ts';

type Callback = Parameters<LookupFunction>[2];

function aNameServer() {
  const asked: { readonly host: string; readonly answer: Callback }[] = [];
  const lookup = limitedLookup((host, _options, answer) => void asked.push({ host, answer }));
  const told: string[] = [];
  const ask = (host: string, family = 0): void =>
    lookup(
      host,
      { family },
      (error, address) => void told.push(`${host} ${error?.message ?? JSON.stringify(address)}`),
    );
  return { asked, told, ask, lookup };
}

test('two names are resolved at a time, the others wait for their turn', () => {
  const { asked, told, ask } = aNameServer();
  for (const host of ['a', 'b', 'c', 'd']) ask(host);
  expect(asked.map(({ host }) => host)).toEqual(['a', 'b']);
  asked[1]?.answer(null, '10.0.0.2', 4);
  expect(asked.map(({ host }) => host)).toEqual(['a', 'b', 'c']);
  asked[0]?.answer(new Error('no such name'), '');
  asked[2]?.answer(null, '10.0.0.3', 4);
  asked[3]?.answer(null, '10.0.0.4', 4);
  expect(told).toEqual(['b "10.0.0.2"', 'a no such name', 'c "10.0.0.3"', 'd "10.0.0.4"']);
});

test('all who wait for one name share the answer; the next question is new', () => {
  const { asked, told, ask } = aNameServer();
  ask('a');
  ask('a');
  ask('a', 6);
  expect(asked.length).toBe(2);
  asked[0]?.answer(null, '10.0.0.1', 4);
  expect(told).toEqual(['a "10.0.0.1"', 'a "10.0.0.1"']);
  ask('a');
  expect(asked.length).toBe(3);
});

test('a fault behind a shared answer ends the session that it belongs to, and no other', () => {
  const { asked, lookup } = aNameServer();
  const cut: string[] = [];
  const ask = (name: string, behind: () => void): void => {
    const session: Faulty = { state: 'dialing', cut: (_, detail) => void cut.push(`${name}: ${detail}`) };
    asStepOf(session, () => lookup('a', {}, behind));
  };
  let told = 0;
  ask('first', () => (told += 1));
  ask('second', () => {
    throw new Error('a fault');
  });
  ask('third', () => (told += 1));
  asked[0]?.answer(null, '10.0.0.1', 4);
  expect(cut).toEqual([expect.stringMatching(/^second: Error: a fault/)]);
  expect(told).toBe(2);
});
