// GET /branches on the admin port.
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { BranchesListing } from '../../../src/admin/branch-documents.ts';
import { createAdmin } from '../../../src/admin/server.ts';
import type { Admin } from '../../../src/admin/server.ts';
import { adminOptions } from '../../support/fakes/admin-options.ts';
import { BRANCHES } from '../../support/values/console.ts';

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

test('a very long list is made while it is read, and no further than its client reads', async () => {
  let made = 0;
  const [one] = BRANCHES.branches;
  const branches = {
    *[Symbol.iterator]() {
      for (; made < 200_000; made += 1) yield { ...one, name: `branch ${made}` };
    },
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the first of the values has every field
  document = { ...BRANCHES, branches } as BranchesListing;
  const response = await fetch(`http://127.0.0.1:${port}/branches`);
  const live = await fetch(`http://127.0.0.1:${port}/livez`);
  expect([live.status, made < 100_000]).toEqual([200, true]);
  const { branches: all }: { branches: readonly object[] } = JSON.parse(await response.text());
  expect(all).toHaveLength(200_000);
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
