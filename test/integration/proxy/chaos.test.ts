// G11: clients and servers leave abruptly in every phase while routes change. Nothing of them stays: no session, no
// descriptor, no read buffer, no timer.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { BranchLookup } from '../../../src/model/branch.ts';
import { Dice, RudeClients, RudeServers, WORDS } from '../../support/labs/chaos.ts';
import { openDescriptors } from '../../support/processes/descriptors.ts';
import { startFakeBackend } from '../../support/fakes/fake-backend.ts';
import type { FakeBackend } from '../../support/fakes/fake-backend.ts';
import { freeReadBuffers } from '../../support/sockets/free-read-buffers.ts';
import { ManualClock } from '../../support/waiting/manual-clock.ts';
import { rounds } from '../../support/runner/ci.ts';
import { aStartup } from '../../support/sockets/packets.ts';
import { startProxyLab } from '../../support/labs/proxy-lab.ts';
import type { ProxyLab, ProxyLabOptions } from '../../support/labs/proxy-lab.ts';
import { DEMOTED } from '../../support/values/tables.ts';
import type { PoolPicture } from '../../support/values/tables.ts';
import { foundAt } from '../../support/values/branches.ts';
import { SERVER, SERVER_TLS } from '../../support/values/tls-files.ts';
import { until } from '../../support/waiting/until.ts';

const SEEDS = rounds(40, 100);
const ACTS = 80;
/** Longer than any deadline of a session. */
const LONG_MS = 120_000;

type Way = Pick<ProxyLabOptions, 'backend' | 'client' | 'relay' | 'locateBranch'>;

const FOR_A_BRANCH = aStartup({ user: 'app', database: 'shop@pr-1' });

const WAYS: readonly (readonly [string, Way, number])[] = [
  ['relay: auto', { relay: 'auto' }, 0],
  ['relay: streams', { relay: 'streams' }, 1_000],
  ['TLS of the proxy', { client: { tls: { mode: 'terminate', ...SERVER } } }, 2_000],
  ['branches', { locateBranch: () => locate() }, 3_000],
  ['TLS on both legs', { client: { tls: { mode: 'terminate', ...SERVER } }, backend: { tls: SERVER_TLS } }, 4_000],
];

let clock: ManualClock;
let backends: readonly [FakeBackend, FakeBackend];
let lab: ProxyLab;
/** Decides where branches are. */
let lookups: Dice;

beforeEach(async () => {
  clock = new ManualClock();
});

afterEach(() => lab.end(...backends));

function locate(): BranchLookup | Promise<BranchLookup> {
  const found = foundAt(lookups.pick(backends).address);
  return lookups.pick<BranchLookup | Promise<BranchLookup>>([
    found,
    found,
    Promise.resolve(found),
    foundAt({ host: '127.0.0.1', port: 1 }),
    { kind: 'unknown' },
    Promise.resolve({ kind: 'unavailable', why: 'no answer' }),
    new Promise(() => {}),
  ]);
}

function aPicture(dice: Dice): PoolPicture {
  const [one, two] = [{ 'pg-1': backends[0].address }, { 'pg-2': backends[1].address }];
  const left = { 'pg-1': { address: backends[0].address, standing: DEMOTED } };
  return dice.pick<PoolPicture>([
    { open: one },
    { open: two },
    { open: { ...one, ...two } },
    { open: two, others: left },
    { others: left },
    { otherwise: 'closed' },
    {},
  ]);
}

async function storm(dice: Dice, clients: RudeClients, servers: RudeServers): Promise<void> {
  for (let acts = 0; acts < ACTS; acts += 1) {
    const what = dice.roll();
    if (what < 0.2) clients.connect();
    else if (what < 0.65) clients.act();
    else if (what < 0.87) servers.act();
    else if (what < 0.97) lab.decide({ write: aPicture(dice), read: aPicture(dice) });
    else await clock.advance(dice.number(4_000));
    // Several events often arrive between two turns in which the proxy reads its sockets.
    if (dice.isLucky(0.6)) await nextTurn();
  }
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

function openSessions(): number {
  const counts = [...lab.proxy.counts().values()];
  return counts.reduce((sum, { states }) => sum + Object.values(states).reduce((all, one) => all + one, 0), 0);
}

function slots(): number {
  return [...lab.proxy.counts().values()].reduce((sum, { members }) => sum + members.size, 0);
}

describe.each(WAYS)('G11: %s', (_, way, firstSeed) => {
  test(`${SEEDS} storms leave nothing`, async () => {
    const tls = way.backend?.tls !== undefined;
    backends = [await startFakeBackend('echo', { tls }), await startFakeBackend('echo', { tls })];
    lab = await startProxyLab({ clock, ...way, hold: { maxSessions: 20 } });
    // The first handshake loads code and buffers that stay.
    const before = { descriptors: openDescriptors(), buffers: freeReadBuffers(), timers: clock.pending() };
    for (let seed = firstSeed; seed < firstSeed + SEEDS; seed += 1) {
      const dice = new Dice(seed);
      lookups = new Dice(seed);
      const isTls = way.client?.tls !== undefined;
      const words = way.locateBranch && [...WORDS, FOR_A_BRANCH, FOR_A_BRANCH, FOR_A_BRANCH, FOR_A_BRANCH];
      const clients = new RudeClients({ dice, at: (pool) => lab.address(pool), isTls, words });
      const servers = new RudeServers(dice, backends);
      await storm(dice, clients, servers);
      await calm(dice, clients, servers);
      clients.resetAll();
      servers.resetAll();
      const left = (): object => ({
        descriptors: openDescriptors(),
        buffers: freeReadBuffers(),
        timers: clock.pending(),
      });
      await until('nothing', () => JSON.stringify(left()) === JSON.stringify(before)).catch(() => undefined);
      expect({ seed, ...left(), slots: slots() }).toEqual({ seed, ...before, slots: 0 });
    }
    expect(lab.reasons()).not.toContain('internal_error');
    if (way.locateBranch === undefined) return;
    const outcomes = lab.events.flatMap((event) => (event.kind === 'branch_wait_ended' ? [event.outcome] : []));
    expect(outcomes).toEqual(expect.arrayContaining(['connected', 'gave_up']));
  }, 120_000);
});
