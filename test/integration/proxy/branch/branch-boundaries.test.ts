// Where a branch session meets the rest of the proxy: clients that ask for encryption first, and reloads.
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { BranchLookup } from '../../../../src/model/branch.ts';
import { startFakeBackend } from '../../../support/fakes/fake-backend.ts';
import type { FakeBackend } from '../../../support/fakes/fake-backend.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { ProxyLab } from '../../../support/labs/proxy-lab.ts';
import { SSL_REQUEST, aStartup, errorFields } from '../../../support/sockets/packets.ts';
import { connectRaw } from '../../../support/sockets/raw-client.ts';
import { foundAt } from '../../../support/values/branches.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';
import { until } from '../../../support/waiting/until.ts';

const ASKS = { user: 'u', database: 'app@pr-1' };
const FORWARDED = aStartup({ user: 'u', database: 'app' });
const ANYWHERE = { host: '127.0.0.1', port: 0 };

let lab: ProxyLab;
let primary: FakeBackend;
let branch: FakeBackend;
let clock: ManualClock;
let answer: () => BranchLookup | Promise<BranchLookup>;

beforeEach(async () => {
  [primary, branch] = await Promise.all([startFakeBackend('obliging'), startFakeBackend('obliging')]);
  clock = new ManualClock();
  answer = () => foundAt(branch.address);
  lab = await startProxyLab({
    clock,
    table: { write: { open: { 'pg-1': primary.address } } },
    locateBranch: () => answer(),
  });
});

afterEach(() => lab.end(primary, branch));

test.each(['at once', 'later'])(
  'a member that declined encryption gets nothing of a client that then asks for a branch (found %s)',
  async (when) => {
    if (when === 'later') answer = () => Promise.resolve(foundAt(branch.address));
    const client = await connectRaw(lab.address('write'));
    client.socket.write(SSL_REQUEST);
    await until('the answer', () => client.received().toString() === 'N');
    client.socket.write(aStartup(ASKS));
    await until('the session', () => client.received().length > 1);
    expect(branch.last().received().equals(FORWARDED)).toBe(true);
    await until('the end at the member', () => primary.last().hasEnded || primary.last().isClosed);
    expect(primary.connections.map((one) => one.received().equals(SSL_REQUEST))).toEqual([true]);
  },
);

test('a member that declined encryption gets nothing of a client whose branch is unknown', async () => {
  answer = () => ({ kind: 'unknown' });
  const client = await connectRaw(lab.address('write'));
  client.socket.write(SSL_REQUEST);
  await until('the answer', () => client.received().toString() === 'N');
  client.socket.write(aStartup(ASKS));
  expect(await until('the error', () => errorFields(client.received().subarray(1)))).toMatchObject({ C: '3D000' });
  expect(primary.connections.map((one) => one.received().equals(SSL_REQUEST))).toEqual([true]);
  client.socket.end();
});

test.each([
  ['169.254.169.254', 'a metadata address'],
  ['::ffff:169.254.169.254', 'a metadata address'],
  ['fe80::1', 'a link-local address'],
  ['0.0.0.0', 'an unspecified address'],
])('G19: a branch at %s is refused, and nothing goes there', async (host, kind) => {
  answer = () => foundAt({ host, port: 80 });
  const client = await lab.connect('write', ASKS);
  const error = await until('the error', async () => {
    await clock.advance(0);
    return errorFields(client.received());
  });
  expect(error).toMatchObject({
    C: '57P03',
    D: `its host is ${kind}, which is never contacted`,
  });
  client.socket.end();
});

test('a reload without branches leaves live sessions alone, and a target is a pool again', async () => {
  const client = await lab.connect('write', ASKS);
  await until('the session', () => client.received().length > 0);
  await lab.reload();
  const other = await lab.connect('write', ASKS);
  expect(await until('the error', () => errorFields(other.received()))).toMatchObject({
    M: 'pointsman: unknown pool (unknown_pool)',
  });
  other.socket.end();
  await until('the close', () => lab.reasons().length === 1);
  expect(lab.reasons()).toEqual(['unknown_pool']);
  expect(lab.proxy.counts().get('branches')?.states.relaying).toBe(1);
});

test('a reload that removes the listener ends the sessions that came there, a branch session as well', async () => {
  const client = await lab.connect('write', ASKS);
  await until('the session', () => client.received().length > 0);
  const before = client.received().length;
  await lab.reload({ listeners: [{ address: ANYWHERE, pool: 'read' }] });
  await clock.advance(1_000);
  await until('the message', () => client.received().length > before);
  client.socket.end();
  await until('the close', () => lab.reasons().length === 1);
  expect(lab.closed()).toMatchObject([{ reason: 'evicted_removed', branch: { name: 'pr-1' } }]);
});

test('the server of a branch that goes away is named to its client, and no member is probed for it', async () => {
  const client = await lab.connect('write', ASKS);
  await until('the session', () => client.received().length > 0);
  const before = client.received().length;
  branch.last().socket.destroy();
  const error = await until('the error', () => errorFields(client.received().subarray(before)));
  expect(error).toMatchObject({ C: '57P01', D: expect.stringContaining('branch pr-1: ') });
  expect(error['M']).toContain('the server of branch "pr-1" closed the connection');
  expect(lab.triggers).toEqual([]);
  client.socket.end();
});
