// G11, G24: clients and servers leave abruptly while sessions are asked, parked and moved, and while routes change.
// Nothing of them stays: no session, no descriptor, no read buffer, no timer.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openDescriptors } from '../../../support/processes/descriptors.ts';
import { rounds } from '../../../support/runner/ci.ts';
import { startFakeBackend } from '../../../support/fakes/fake-backend.ts';
import type { FakeBackend } from '../../../support/fakes/fake-backend.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { ProxyLab, ProxyLabOptions } from '../../../support/labs/proxy-lab.ts';
import { Dice, RudeClients, RudeServers } from '../../../support/labs/chaos.ts';
import { freeReadBuffers } from '../../../support/sockets/free-read-buffers.ts';
import { FLUSH, PARSE, QUERY, SYNC, TERMINATE } from '../../../support/sockets/messages.ts';
import { aStartup } from '../../../support/sockets/packets.ts';
import { DEMOTED } from '../../../support/values/tables.ts';
import type { PoolPicture } from '../../../support/values/tables.ts';
import { SERVER, SERVER_TLS } from '../../../support/values/tls-files.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';
import { until } from '../../../support/waiting/until.ts';

const WORDS = [QUERY, QUERY, QUERY, Buffer.concat([PARSE, SYNC]), QUERY.subarray(0, 3), FLUSH, TERMINATE];
const SEEDS = rounds(24, 60);
const ACTS = 100;
/** Longer than any deadline of a session. */
const LONG_MS = 120_000;

type Way = Pick<ProxyLabOptions, 'backend' | 'client' | 'relay'>;

const WAYS: readonly (readonly [string, Way, number])[] = [
  ['relay: auto', { relay: 'auto' }, 0],
  ['relay: streams', { relay: 'streams' }, 1_000],
  ['TLS of the proxy', { client: { tls: { mode: 'terminate', ...SERVER } } }, 2_000],
  ['TLS on both legs', { client: { tls: { mode: 'terminate', ...SERVER } }, backend: { tls: SERVER_TLS } }, 3_000],
];

let clock: ManualClock;
let backends: readonly [FakeBackend, FakeBackend];
let lab: ProxyLab;

beforeEach(async () => {
  clock = new ManualClock();
});

afterEach(() => lab.end(...backends));

function aPicture(dice: Dice): PoolPicture {
  const [one, two] = [{ 'pg-1': backends[0].address }, { 'pg-2': backends[1].address }];
  const left = { 'pg-1': { address: backends[0].address, standing: DEMOTED } };
  return dice.pick<PoolPicture>([
    { open: one },
    { open: two },
    { open: one },
    { open: two, others: left },
    { others: left },
    { otherwise: 'closed' },
    {},
  ]);
}

/** The end of the move is not waited for. */
async function moveOne(dice: Dice): Promise<void> {
  const { sessions } = await lab.proxy.sessions({ limit: 100 });
  if (sessions.length > 0) void lab.proxy.move(dice.pick(sessions).id);
}

async function storm(dice: Dice, clients: RudeClients, servers: RudeServers): Promise<void> {
  for (let acts = 0; acts < ACTS; acts += 1) {
    const what = dice.roll();
    if (what < 0.15) clients.connect();
    else if (what < 0.45) clients.act();
    else if (what < 0.55) servers.act();
    else if (what < 0.9) await moveOne(dice);
    else if (what < 0.97) lab.decide({ write: aPicture(dice), read: aPicture(dice) });
    else await clock.advance(dice.number(4_000));
    // Several events often arrive between two turns in which the proxy reads its sockets.
    for (let turns = dice.number(4); turns > 0; turns -= 1) await nextTurn();
  }
}

function openSessions(): number {
  const counts = [...lab.proxy.counts().values()];
  return counts.reduce((sum, { states }) => sum + Object.values(states).reduce((all, one) => all + one, 0), 0);
}

/** One side leaves; every deadline of the other side passes. */
async function calm(dice: Dice, clients: RudeClients, servers: RudeServers): Promise<void> {
  if (dice.isLucky(0.5)) clients.resetAll();
  else servers.resetAll();
  const isOver = async (): Promise<boolean> => {
    // Clients that waited for a route may have got a server meanwhile.
    servers.resetAll();
    await clock.advance(LONG_MS);
    return openSessions() === 0;
  };
  await until('every end', isOver);
}

function slots(): number {
  return [...lab.proxy.counts().values()].reduce((sum, { members }) => sum + members.size, 0);
}

describe.each(WAYS)('G11, G24: %s', (_, way, firstSeed) => {
  test(`${SEEDS} storms with moves leave nothing`, async () => {
    const tls = way.backend?.tls !== undefined;
    backends = [await startFakeBackend('movable', { tls }), await startFakeBackend('movable', { tls })];
    lab = await startProxyLab({ clock, ...way, moves: { parkTimeoutMs: 20_000 }, hold: { maxSessions: 20 } });
    // The first handshake loads code and buffers that stay.
    const before = { descriptors: openDescriptors(), buffers: freeReadBuffers(), timers: clock.pending() };
    for (let seed = firstSeed; seed < firstSeed + SEEDS; seed += 1) {
      const dice = new Dice(seed);
      const isTls = way.client?.tls !== undefined;
      const clients = new RudeClients({
        dice,
        at: () => lab.address('write'),
        isTls,
        words: WORDS,
        greeting: aStartup(),
      });
      const servers = new RudeServers(dice, backends, 'movable');
      for (const backend of backends) backend.behaviour = 'movable';
      lab.decide({ write: { open: { 'pg-1': backends[0].address } }, read: {} });
      await storm(dice, clients, servers);
      await calm(dice, clients, servers);
      clients.resetAll();
      servers.resetAll();
      const left = (): object => ({
        descriptors: openDescriptors(),
        buffers: freeReadBuffers(),
        timers: clock.pending(),
      });
      const isLikeBefore = (): boolean => {
        // The kernel may have completed a connection that its server had not accepted.
        servers.resetAll();
        return JSON.stringify(left()) === JSON.stringify(before);
      };
      await until('nothing', isLikeBefore).catch(() => undefined);
      expect({ seed, ...left(), slots: slots() }).toEqual({ seed, ...before, slots: 0 });
    }
    expect(lab.reasons()).not.toContain('internal_error');
    const kinds = lab.events.map(({ kind }) => kind);
    expect(kinds).toEqual(expect.arrayContaining(['session_asked', 'session_parked', 'session_moved']));
  }, 120_000);
});
