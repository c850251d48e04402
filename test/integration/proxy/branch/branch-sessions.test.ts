// `app@pr-1`: the client names a branch, at any listener.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { BranchAccess, BranchLookup } from '../../../../src/model/branch.ts';
import { startFakeBackend } from '../../../support/fakes/fake-backend.ts';
import type { FakeBackend } from '../../../support/fakes/fake-backend.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { ProxyLab } from '../../../support/labs/proxy-lab.ts';
import { aCancelOf, aStartup, errorFields } from '../../../support/sockets/packets.ts';
import { connectRaw } from '../../../support/sockets/raw-client.ts';
import type { RawClient } from '../../../support/sockets/raw-client.ts';
import { aPool, aWritePool } from '../../../support/values/builders.ts';
import { aBranch, foundAt } from '../../../support/values/branches.ts';
import { DEMOTED } from '../../../support/values/tables.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';
import { until } from '../../../support/waiting/until.ts';

const ASKS = { user: 'u', database: 'app@pr-1' };
const FORWARDED = aStartup({ user: 'u', database: 'app' });

let lab: ProxyLab;
let primary: FakeBackend;
let replica: FakeBackend;
let branch: FakeBackend;
let clock: ManualClock;
let lookups: { readonly target: string; readonly access: BranchAccess }[];
/** Connections to members that the test expects. */
let toMembers: number;
let answer: () => BranchLookup | Promise<BranchLookup>;

beforeEach(async () => {
  [primary, replica, branch] = await Promise.all([startFakeBackend(), startFakeBackend(), startFakeBackend()]);
  clock = new ManualClock();
  lookups = [];
  toMembers = 0;
  answer = () => foundAt(branch.address);
  lab = await startProxyLab({
    clock,
    pools: [aWritePool(), aPool()],
    table: { write: { open: { 'pg-1': primary.address } }, read: { open: { 'pg-2': replica.address } } },
    locateBranch: (target, access) => {
      lookups.push({ target, access });
      return answer();
    },
  });
});

afterEach(async () => {
  await lab.end(primary, replica, branch);
  expect(primary.connections.length + replica.connections.length).toBe(toMembers);
});

const states = () => lab.proxy.counts().get('branches')?.states;

async function aSession(pool = 'write'): Promise<RawClient> {
  const client = await lab.connect(pool, ASKS);
  await until('the echo', () => client.received().equals(FORWARDED));
  return client;
}

async function isRefused(client: RawClient) {
  const error = await until('the error', () => errorFields(client.received()));
  client.socket.end();
  await until('the close', () => lab.reasons().length === 1);
  return error;
}

describe('a branch that is there', () => {
  test.each([
    ['write', 'write', ASKS],
    ['read', 'read', ASKS],
    ['read', 'read', { user: 'u', database: 'app', options: '-c pointsman.pool=pr-1' }],
  ] as const)('the pool of the listener %s decides the access (%s)', async (pool, access, asks) => {
    const client = await lab.connect(pool, asks);
    await until('the echo', () => client.received().length > 0);
    expect(branch.last().received().toString()).not.toContain('pr-1');
    expect(lookups).toEqual([{ target: 'pr-1', access }]);
  });

  test('its session counts under the reserved pool, has no member, and names its branch', async () => {
    const client = await aSession('read');
    client.socket.write('more');
    await until('the bytes', () => client.received().toString().endsWith('more'));
    expect(states()).toMatchObject({ relaying: 1 });
    expect(lab.proxy.counts().get('branches')).toMatchObject({ started: 1, members: new Map() });
    expect(lab.proxy.counts().get('read')).toMatchObject({ accepted: 1, started: 0, states: { startup: 0 } });
    const identity = { id: 'br-aged-salad', name: 'pr-1' };
    const { sessions } = await lab.proxy.sessions({ limit: 10 });
    expect(sessions).toMatchObject([{ pool: 'branches', member: undefined, branch: identity, database: 'app' }]);
    client.socket.end();
    await until('the close', () => lab.reasons().length === 1);
    expect(lab.closed()).toMatchObject([{ pool: 'branches', member: undefined, branch: identity }]);
    const opened = lab.events.find(({ kind }) => kind === 'session_opened');
    expect(opened).toMatchObject({ pool: 'branches', member: undefined, branch: identity });
    expect(lab.triggers).toEqual([]);
  });

  test('the name of its host is resolved', async () => {
    answer = () => foundAt({ ...branch.address, host: 'localhost' });
    await aSession();
    expect(branch.connections.length).toBe(1);
  });

  test('a pool wins over a branch of the same name', async () => {
    const client = await lab.connect('write', { user: 'u', database: 'app@ro' });
    await until('the echo', () => client.received().equals(FORWARDED));
    expect(lookups).toEqual([]);
    toMembers = 1;
  });

  test('no eviction and no handover touches it; an operator ends it', async () => {
    const client = await aSession();
    lab.decide({ write: { others: { 'pg-1': { address: branch.address, standing: DEMOTED } } } });
    lab.decide({ write: { otherwise: 'closed' }, read: { otherwise: 'closed' } });
    client.socket.write('still here');
    await until('the echo', () => client.received().toString().endsWith('still here'));
    const { sessions } = await lab.proxy.sessions({ limit: 1 });
    expect(await lab.proxy.kill(sessions[0]?.id ?? 0)).toMatchObject({ kind: 'killed' });
    await until('the close', () => client.isClosed);
    expect(lab.reasons()).toEqual(['killed_by_operator']);
    await until('the end of the backend', () => branch.open() === 0);
  });

  test('a drain at shutdown ends it', async () => {
    await aSession();
    const drained = lab.proxy.drain(1_000);
    await clock.advance(2_000);
    await drained;
    expect(lab.reasons()).toEqual(['shutdown']);
  });
});

describe('G23: a branch that is not there: no member gets a connection', () => {
  test('unknown: a permanent error that names pools and no branch', async () => {
    answer = () => ({ kind: 'unknown' });
    expect(await isRefused(await lab.connect('write', ASKS))).toMatchObject({
      C: '3D000',
      M: 'pointsman: unknown pool or branch (unknown_branch)',
      D: 'no pool or branch named "pr-1"; pools: write, read, rw (write), ro (read)',
    });
    expect(lab.closed()).toMatchObject([{ pool: 'branches', reason: 'unknown_branch' }]);
    expect(branch.connections.length).toBe(0);
  });

  test('a client that waits for the list gets its answer', async () => {
    const list = Promise.withResolvers<BranchLookup>();
    answer = () => list.promise;
    const client = await lab.connect('write', ASKS);
    await until('the wait', () => states()?.holding === 1);
    list.resolve({ kind: 'unavailable', why: 'the console gives no answer' });
    expect(await isRefused(client)).toMatchObject({
      C: '57P03',
      M: 'pointsman: the list of branches is not available (branches_unavailable)',
      D: 'the console gives no answer',
    });
  });

  test('a lookup without an end ends with the budget', async () => {
    answer = () => new Promise(() => {});
    const client = await lab.connect('write', ASKS);
    await until('the wait', () => states()?.holding === 1);
    await clock.advance(30_000);
    expect(await isRefused(client)).toMatchObject({ C: '57P03', D: 'no list within 30 s' });
  });

  test.each<[BranchLookup, string, RegExp]>([
    [{ kind: 'not_allowed', branch: aBranch(), why: 'root' }, '28000', /root branch/],
    [{ kind: 'not_allowed', branch: aBranch(), why: 'allow' }, '28000', /branches\.allow/],
    [{ kind: 'ambiguous', ids: ['br-1', 'br-2'] }, '22023', /^ids: br-1, br-2$/],
    [{ kind: 'no_backend', branch: aBranch(), why: 'backends.template is not set' }, '57P03', /template is not set/],
  ])('%j', async (lookup, sqlState, detail) => {
    answer = () => lookup;
    expect(await isRefused(await lab.connect('write', ASKS))).toMatchObject({
      C: sqlState,
      D: expect.stringMatching(detail),
    });
  });
});

describe('a cancel request', () => {
  test('reaches the branch whose session has its key', async () => {
    branch.behaviour = 'obliging';
    const client = await lab.connect('write', ASKS);
    await until('the session', () => client.received().length > 0);
    const request = aCancelOf(42, Buffer.alloc(4, 7));
    const canceller = await connectRaw(lab.address('read'));
    canceller.socket.write(request);
    await until('the request', () => branch.connections.length === 2 && branch.last().received().equals(request));
    branch.last().socket.end();
    await until('the report', () => lab.events.some(({ kind }) => kind === 'cancel_forwarded'));
    expect(lab.events.find(({ kind }) => kind === 'cancel_forwarded')).toMatchObject({
      key: 'known',
      members: [],
      branch: { id: 'br-aged-salad', name: 'pr-1' },
    });
    client.socket.destroy();
  });
});
