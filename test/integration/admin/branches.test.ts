// GET /branches on the admin port.
import { connect } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import type { BranchesListing } from '../../../src/admin/branch-documents.ts';
import { createAdmin } from '../../../src/admin/admin-server.ts';
import type { Admin } from '../../../src/admin/admin-server.ts';
import { adminOptions } from '../../support/fakes/admin-options.ts';
import { BRANCHES } from '../../support/values/console.ts';
import { until } from '../../support/waiting/until.ts';

let admin: Admin;
let port: number;
let document: BranchesListing | undefined;

beforeEach(async () => {
  document = BRANCHES;
  admin = createAdmin(adminOptions({ branches: () => Promise.resolve(document) }));
  const listening = await admin.listen();
  if (listening.kind === 'failed') throw new Error(listening.detail);
  ({ port } = listening.address);
});

afterEach(() => admin.close());

test('the list names no user, so it needs no token', async () => {
  const response = await fetch(`http://127.0.0.1:${port}/branches`);
  expect([response.status, await response.json()]).toEqual([200, { api_version: 1, ...BRANCHES }]);
});

/** `onEach`: called with the number of each entry before it is made. */
function longList(onEach: (number: number) => void): BranchesListing {
  const [one] = BRANCHES.branches;
  const branches = {
    *[Symbol.iterator]() {
      for (let number = 0; number < 200_000; number += 1) {
        onEach(number);
        yield { ...one, name: `branch ${number}` };
      }
    },
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the first of the values has every field
  return { ...BRANCHES, branches } as BranchesListing;
}

test('a very long list is made while it is read, and no further than its client reads', async () => {
  let made = 0;
  document = longList(() => (made += 1));
  const response = await fetch(`http://127.0.0.1:${port}/branches`);
  const live = await fetch(`http://127.0.0.1:${port}/livez`);
  expect([live.status, made < 100_000]).toEqual([200, true]);
  const { branches: all }: { branches: readonly object[] } = JSON.parse(await response.text());
  expect(all).toHaveLength(200_000);
});

test('the making of a long list leaves turns for everything else', async () => {
  let [inTurn, most] = [0, 0];
  document = longList(() => {
    inTurn += 1;
    most = Math.max(most, inTurn);
  });
  const response = await fetch(`http://127.0.0.1:${port}/branches`);
  const end = response.text().then(() => false);
  while (await Promise.race([end, nextTurn(true)])) inTurn = 0;
  // A part has about a hundred entries.
  expect(most).toBeLessThan(1_000);
});

test('a slow reader of a long list leaves no listeners behind at each pause', async () => {
  const warnings: Error[] = [];
  const onWarning = (warning: Error): void => void warnings.push(warning);
  process.on('warning', onWarning);
  onTestFinished(() => void process.off('warning', onWarning));
  document = longList(() => {});
  const socket = connect(port, '127.0.0.1');
  socket.write('GET /branches HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
  // The server writes several parts for each read.
  for await (const _ of socket) for (let turn = 0; turn < 6; turn += 1) await nextTurn();
  expect(warnings).toEqual([]);
});

test('the making of a long list ends with its client', async () => {
  let made = 0;
  let hasEnded = false;
  const { branches, ...rest } = longList((number) => (made = number));
  const watched = {
    *[Symbol.iterator]() {
      try {
        yield* branches;
      } finally {
        hasEnded = true;
      }
    },
  };
  document = { ...rest, branches: watched };
  const leaving = new AbortController();
  await fetch(`http://127.0.0.1:${port}/branches`, { signal: leaving.signal });
  leaving.abort();
  await until('the end', () => hasEnded);
  expect(made).toBeLessThan(100_000);
});

test('a list that fails half-way is no whole answer', async () => {
  document = longList((number) => {
    if (number === 5_000) throw new Error('lost');
  });
  const response = await fetch(`http://127.0.0.1:${port}/branches`);
  await expect(response.text()).rejects.toThrow('terminated');
});

test('answers to HEAD have no list', async () => {
  let made = 0;
  document = longList(() => (made += 1));
  const response = await fetch(`http://127.0.0.1:${port}/branches`, { method: 'HEAD' });
  expect([response.status, await response.text(), made]).toEqual([200, '', 0]);
});

test('long lists that nobody reads make room for other answers', async () => {
  let begun = 0;
  document = longList((number) => (begun += number === 0 ? 1 : 0));
  for (let number = 0; number < 32; number += 1) {
    const socket = connect({ port, host: '127.0.0.1', localAddress: `127.0.2.${number + 1}` });
    onTestFinished(() => void socket.destroy());
    socket.on('error', () => {}).pause();
    socket.write('GET /branches HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
  }
  await until('as many as the limit', () => begun === 32);
  await until('room', async () => (await fetch(`http://127.0.0.1:${port}/samples`)).status === 200, 5_000);
});

test('without branches it says so', async () => {
  document = undefined;
  const response = await fetch(`http://127.0.0.1:${port}/branches`);
  expect([response.status, await response.json()]).toEqual([
    404,
    { api_version: 1, error: 'there are no branches: the configuration has no section `branches`' },
  ]);
});

test('it only reads', async () => {
  const response = await fetch(`http://127.0.0.1:${port}/branches`, { method: 'POST', body: '{}' });
  expect(response.status).toBe(405);
});
