// A cancel request may come to another Pointsman than the one that has its session: the setting `peers`.
import { connect } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Address } from '../../../../src/model/member.ts';
import { keyOf, startFakeBackend, type FakeBackend } from '../../../support/fakes/fake-backend.ts';
import { startProxyLab, type ProxyLab } from '../../../support/labs/proxy-lab.ts';
import { TERMINATE, aMessage, readyForQuery } from '../../../support/sockets/messages.ts';
import { aCancelOf, aPacket, errorFields } from '../../../support/sockets/packets.ts';
import { connectRaw, watch, type RawClient } from '../../../support/sockets/raw-client.ts';
import { HANDING_OVER } from '../../../support/values/tables.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';
import { until } from '../../../support/waiting/until.ts';

const POINTSMEN = 3;
const SESSIONS = 100;
const READY = readyForQuery('I');
const UNKNOWN = aCancelOf(1, Buffer.from('none'));
const OFFER = 0x50_4d_00_01;
/** As offers are written: with the key of the cancel request. */
const offerOf = (cancel: Buffer): Buffer => aPacket(OFFER, cancel.subarray(8));

let clock: ManualClock;
let labs: ProxyLab[];
let one: FakeBackend;
let two: FakeBackend;
/** Where the setting leads, for all of them. */
let peers: Address[];

beforeEach(async () => {
  clock = new ManualClock();
  [one, two] = [await startFakeBackend('keyed'), await startFakeBackend('keyed')];
  labs = [];
  peers = [];
});

afterEach(async () => {
  for (const lab of labs) await lab.end();
  await Promise.all([one, two].map((backend) => backend.stop()));
});

async function aLab(locatePeer?: () => Promise<readonly Address[]>): Promise<ProxyLab> {
  const table = { write: { open: { 'pg-1': one.address } } };
  const moves = { concurrent: SESSIONS, perSecond: 100_000 };
  const lab = await startProxyLab({ clock, table, moves, ...(locatePeer && { locatePeer }) });
  labs.push(lab);
  return lab;
}

/** Each is among its own peers, as the pods of a headless Service are. */
async function start(count = POINTSMEN): Promise<readonly ProxyLab[]> {
  for (let made = 0; made < count; made += 1) {
    const lab = await aLab(() => Promise.resolve(peers));
    peers.push(lab.address('read'));
  }
  return labs;
}

interface Keyed {
  readonly lab: ProxyLab;
  readonly client: RawClient;
  readonly name: string;
  /** With the key that its client was told. */
  readonly cancel: Buffer;
}

async function aSession(lab: ProxyLab, name: string): Promise<Keyed> {
  const client = await lab.connect('write');
  await until('the greeting', () => client.received().includes(READY));
  const greeting = client.received();
  const at = greeting.indexOf('K\0\0\0\x0c', 0, 'latin1') + 5;
  const secret = greeting.subarray(at + 4, at + 8);
  return { lab, client, name, cancel: aCancelOf(greeting.readInt32BE(at), secret) };
}

/** The cancel request with the key at its server, which has run a statement of it. */
async function keyAt(server: FakeBackend, { client, name }: Keyed): Promise<Buffer> {
  client.socket.write(aMessage('Q', Buffer.from(`select '${name}'\0`)));
  const found = await until('its statement', () =>
    server.connections.find((connection) => connection.received().includes(`'${name}'`)),
  );
  return aCancelOf(...keyOf(found.socket));
}

async function cancelAt(lab: ProxyLab, packet: Buffer): Promise<RawClient> {
  const client = await connectRaw(lab.address('write'));
  client.socket.write(packet);
  return client;
}

async function isOver(client: RawClient): Promise<void> {
  await until('the end of a cancel', () => client.hasEnded || client.isClosed);
  client.socket.destroy();
}

/** How often each server got it. */
function heard(packet: Buffer): readonly [number, number] {
  const times = ({ connections }: FakeBackend): number =>
    connections.filter((connection) => connection.received().equals(packet)).length;
  return [times(one), times(two)];
}

function told(lab: ProxyLab) {
  return lab.events.flatMap((event) => (event.kind === 'cancel_forwarded' ? [event] : []));
}

const keysOf = (all: readonly ProxyLab[]) => new Set(all.flatMap(told).map(({ key }) => key));
const offersTo = (lab: ProxyLab): number => lab.reasons().filter((reason) => reason === 'cancel_offered').length;

const count = (kind: string) => labs.flatMap(({ events }) => events).filter((event) => event.kind === kind).length;

async function moveAll(sessions: readonly Keyed[]): Promise<void> {
  for (const lab of labs)
    lab.decide({ write: { others: { 'pg-1': { address: one.address, standing: HANDING_OVER } } } });
  await until('the parks', () => count('session_parked') === sessions.length);
  for (const lab of labs) lab.decide({ write: { open: { 'pg-2': two.address } } });
  await until('the moves', async () => {
    await clock.advance(10);
    return count('session_moved') === sessions.length;
  });
}

/** A peer by hand. */
async function byHand(): Promise<FakeBackend> {
  const peer = await startFakeBackend('silent');
  peers = [peer.address];
  return peer;
}

test(`G17: ${SESSIONS} cancels at any of three Pointsmen arrive right, once, also after a switchover`, async () => {
  await start();
  const sessions: Keyed[] = [];
  for (let made = 0; made < SESSIONS; made += 1) {
    const lab = labs[made % POINTSMEN];
    if (lab !== undefined) sessions.push(await aSession(lab, `session-${made}`));
  }
  const cancelAll = async (by: number): Promise<void> => {
    const cancels = sessions.map(async ({ cancel }, index) => {
      const lab = labs[(index + by + Math.floor(index / POINTSMEN)) % POINTSMEN];
      if (lab !== undefined) await isOver(await cancelAt(lab, cancel));
    });
    await Promise.all(cancels);
  };

  const before = await Promise.all(sessions.map((session) => keyAt(one, session)));
  await cancelAll(0);
  expect(before.map(heard)).toEqual(sessions.map(() => [1, 0]));
  await moveAll(sessions);
  const after = await Promise.all(sessions.map((session) => keyAt(two, session)));
  await clock.advance(1000);
  await cancelAll(1);
  expect(before.map(heard), 'the old key is sent to nobody').toEqual(sessions.map(() => [1, 0]));
  expect(after.map(heard)).toEqual(sessions.map(() => [0, 1]));

  // Those of other Pointsmen, in both rounds, and the same by their own.
  const elsewhere = labs.flatMap(told).filter(({ key }) => key === 'peer');
  expect(elsewhere.length).toBeGreaterThan(SESSIONS);
  expect([keysOf(labs), labs.flatMap(told).length]).toEqual([
    new Set(['known', 'peer']),
    2 * SESSIONS + elsewhere.length,
  ]);
  for (const { client } of sessions) client.socket.write(TERMINATE);
});

test('the statement of a parked session is cancelled by way of another Pointsman', async () => {
  const [here, there] = await start(2);
  if (here === undefined || there === undefined) return expect.unreachable();
  const session = await aSession(here, 'parked');
  here.decide({ write: { others: { 'pg-1': { address: one.address, standing: HANDING_OVER } } } });
  await until('the park', () => here.events.some(({ kind }) => kind === 'session_parked'));
  const read = session.client.received().length;
  session.client.socket.write(aMessage('Q', Buffer.from('select 1\0')));
  await until('its wait', async () =>
    (await here.proxy.sessions({ limit: 9 })).sessions.some((row) => row.moves?.underway?.isWaiting === true),
  );
  await isOver(await cancelAt(there, session.cancel));
  await until('the answer', () => session.client.received().length > read);
  expect(errorFields(session.client.received().subarray(read))).toMatchObject({ C: '57014' });
  return session.client.socket.destroy();
});

test.each([
  ['are down', 'gone'],
  ['say no', 'down'],
])('the peers %s: a cancel goes to the members at once, as without peers', async (_, way) => {
  const peer = await startFakeBackend('gone');
  if (way === 'down') await peer.refuseConnections();
  peers = [peer.address];
  const lab = await aLab(() => Promise.resolve(peers));
  await isOver(await cancelAt(lab, UNKNOWN));
  expect([heard(UNKNOWN), told(lab).map(({ key }) => key)]).toEqual([[1, 0], ['unknown']]);
  await peer.stop();
});

test('a silent peer costs a cancel three seconds, and its late answer gets no request', async () => {
  const peer = await byHand();
  const lab = await aLab(() => Promise.resolve(peers));
  const client = await cancelAt(lab, UNKNOWN);
  await until('the offer', () => peer.clients() === 1);
  await clock.advance(2_999);
  expect(heard(UNKNOWN)).toEqual([0, 0]);
  await clock.advance(1);
  await isOver(client);
  expect(heard(UNKNOWN)).toEqual([1, 0]);
  peer.last().socket.end('Y');
  await until('its end', () => peer.last().isClosed);
  expect(peer.last().received()).toEqual(offerOf(UNKNOWN));
  await peer.stop();
});

test('a name server that does not answer costs no more', async () => {
  const lab = await aLab(() => new Promise(() => {}));
  const client = await cancelAt(lab, UNKNOWN);
  await until('the cancel', () => clock.pending() > 0);
  await clock.advance(1000);
  await isOver(client);
  expect(heard(UNKNOWN)).toEqual([1, 0]);
});

test('the first peer that has the session gets the request, and the others hear no more of it', async () => {
  const [yes, other] = [await byHand(), await startFakeBackend('silent')];
  peers = [yes.address, other.address];
  const lab = await aLab(() => Promise.resolve(peers));
  const client = await cancelAt(lab, UNKNOWN);
  await until('the offers', () => yes.clients() + other.clients() === 2);
  yes.last().socket.write('Y');
  await until('the request', () => yes.last().received().length === 2 * UNKNOWN.length && other.last().hasEnded);
  expect(yes.last().received()).toEqual(Buffer.concat([offerOf(UNKNOWN), UNKNOWN]));
  expect(client.hasEnded, 'the peer is not done').toBe(false);
  yes.last().socket.end();
  await isOver(client);
  expect([heard(UNKNOWN), told(lab)]).toMatchObject([
    [0, 0],
    [{ key: 'peer', members: [], peer: `127.0.0.1:${yes.address.port}` }],
  ]);
  await Promise.all([yes.stop(), other.stop()]);
});

test('a peer that takes the request and then stands still is left after five seconds', async () => {
  const peer = await byHand();
  const lab = await aLab(() => Promise.resolve(peers));
  const client = await cancelAt(lab, UNKNOWN);
  await until('the offer', () => peer.clients() === 1);
  peer.last().socket.write('Y');
  await until('the request', () => told(lab).length === 1);
  await clock.advance(5000);
  await isOver(client);
  expect([heard(UNKNOWN), lab.reasons()]).toEqual([[0, 0], ['cancel_forwarded']]);
  await peer.stop();
});

test('Pointsmen that name each other and themselves make no loop of an unknown key', async () => {
  await start();
  const [first] = labs;
  if (first === undefined) return expect.unreachable();
  await isOver(await cancelAt(first, UNKNOWN));
  await until('the ends', () => labs.every((lab) => offersTo(lab) === 1));
  expect([heard(UNKNOWN), labs.map((lab) => told(lab).map(({ key }) => key))]).toEqual([
    [1, 0],
    [['unknown'], [], []],
  ]);
});

test('a flood of unknown keys reaches the peers at a limited rate, and does not lock out another address', async () => {
  const peer = await startFakeBackend('gone');
  peers = [peer.address];
  const lab = await aLab(() => Promise.resolve(peers));
  for (let sent = 0; sent < 130; sent += 1) await isOver(await cancelAt(lab, UNKNOWN));
  // The first one of an address counts as rare only when the common part is used up.
  expect(peer.connections).toHaveLength(100);
  const { host, port } = lab.address('write');
  const rare = watch(connect({ host, port, localAddress: '127.0.0.2' }));
  rare.socket.write(UNKNOWN);
  await isOver(rare);
  expect(peer.connections).toHaveLength(101);
  await peer.stop();
});

test('an offered key leads to no member and no peer, whatever is sent behind the offer', async () => {
  const [lab, other] = await start(2);
  if (lab === undefined || other === undefined) return expect.unreachable();
  const session = await aSession(lab, 'short');
  const offered = async (): Promise<RawClient> => {
    const client = await cancelAt(lab, offerOf(session.cancel));
    await until('yes', () => client.received().equals(Buffer.from('Y')));
    return client;
  };
  const [late, wrong] = [await offered(), await offered()];
  wrong.socket.write(offerOf(session.cancel));
  await isOver(wrong);
  session.client.socket.end(TERMINATE);
  await until('the end of the session', () => lab.reasons().includes('client_closed'));
  late.socket.write(session.cancel);
  await isOver(late);
  const no = await cancelAt(lab, offerOf(session.cancel));
  await isOver(no);
  expect(no.received()).toEqual(Buffer.alloc(0));
  expect(lab.closed().map(({ reason, detail }) => [reason, detail])).toEqual([
    ['not_postgres', 'another packet than the cancel request that was offered'],
    ['client_closed', undefined],
    ['cancel_failed', 'its session has ended'],
    ['cancel_offered', undefined],
  ]);
  return expect([heard(session.cancel), offersTo(other)]).toEqual([[0, 0], 0]);
});

test('without the setting an offer is a mistake, and a reload turns it on', async () => {
  const lab = await aLab();
  await isOver(await cancelAt(lab, offerOf(UNKNOWN)));
  await lab.reload({ cancelPeers: [{ host: 'pointsmen.test', port: 6432 }] });
  await isOver(await cancelAt(lab, offerOf(UNKNOWN)));
  expect(lab.closed().map(({ reason, detail }) => [reason, detail])).toEqual([
    ['not_postgres', 'a cancel request of a peer: peers is not set'],
    ['cancel_offered', undefined],
  ]);
});
