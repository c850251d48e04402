import { afterEach, beforeEach, expect, test } from 'vitest';
import { createBranchControl } from '../../../src/branching/control-branches.ts';
import type { BranchControl } from '../../../src/branching/control-branches.ts';
import { startFakeStorageNode } from '../../support/branches/fake-storage-node.ts';
import type { FakeStorageNode } from '../../support/branches/fake-storage-node.ts';
import { EagerClock } from '../../support/waiting/eager-clock.ts';

let node: FakeStorageNode;
let control: BranchControl;

beforeEach(async () => {
  node = await startFakeStorageNode();
  control = createBranchControl(
    { kind: 'storage', ...node, namesFile: undefined, pgVersion: 17, headersFile: undefined },
    { clock: new EagerClock(), random: () => 1 },
  );
});
afterEach(() => node.stop());

test('a list is read once', async () => {
  node.script = () => ({ status: 503 });
  expect(await control.list()).toMatchObject({ kind: 'failed', why: expect.stringMatching(/status 503$/) });
  expect(node.requests).toHaveLength(1);
});

test('a caller with patience waits for a source that comes back', async () => {
  const whys: string[] = [];
  node.script = () => (node.requests.length < 4 ? { status: 503 } : undefined);
  const listed = await control.list({ waitMs: 60_000, onRetry: (why) => whys.push(why) });
  expect(listed).toMatchObject({ kind: 'read', branches: [{ id: node.root, name: node.root }] });
  expect(whys).toHaveLength(3);
});

test.each([401, 403, 404])('%i does not get better by waiting', async (status) => {
  node.script = () => ({ status });
  expect((await control.list({ waitMs: 60_000 })).kind).toBe('failed');
  // After a 404 the tenants are read, to name the reason.
  expect(node.requests.filter(({ path }) => path.endsWith('/timeline'))).toHaveLength(1);
});
