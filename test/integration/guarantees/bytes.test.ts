// The bytes of busy clients while members come, go, refuse and reset. Each direction is a copy of a prefix of the sent
// bytes, and no byte goes to two servers. The events of an episode follow from its seed.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startFakeBackend } from '../../support/fakes/fake-backend.ts';
import type { BackendConnection, FakeBackend } from '../../support/fakes/fake-backend.ts';
import { ManualClock } from '../../support/waiting/manual-clock.ts';
import { aStartup, errorFields } from '../../support/sockets/packets.ts';
import { startProxyLab } from '../../support/labs/proxy-lab.ts';
import type { ProxyLab } from '../../support/labs/proxy-lab.ts';
import { connectRaw } from '../../support/sockets/raw-client.ts';
import type { RawClient } from '../../support/sockets/raw-client.ts';
import { DEMOTED } from '../../support/values/tables.ts';
import type { PoolPicture } from '../../support/values/tables.ts';
import { until } from '../../support/waiting/until.ts';

const SEEDS = Array.from({ length: 12 }, (_, index) => index + 1);
const CLIENTS = 8;
const TURNS = 150;

let lab: ProxyLab;
let clock: ManualClock;
let backends: readonly FakeBackend[];

beforeEach(async () => {
  clock = new ManualClock();
  backends = [await startFakeBackend('echo'), await startFakeBackend('echo')];
  lab = await startProxyLab({ clock });
});

afterEach(() => lab.end(...backends));

/** Numbers in [0, 1) that follow from the seed. */
function chanceOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

interface Talker {
  readonly pool: string;
  readonly startup: Buffer;
  readonly client: RawClient;
  sent: Buffer;
}

async function aTalker(index: number): Promise<Talker> {
  const pool = index % 2 === 0 ? 'write' : 'read';
  const startup = aStartup({ user: `client-${index}`, database: 'shop' });
  const client = await connectRaw(lab.address(pool));
  client.socket.write(startup);
  return { pool, startup, client, sent: startup };
}

function says(talker: Talker, chance: () => number): void {
  if (talker.client.isClosed || talker.client.hasEnded) return;
  const bytes = Buffer.from(Array.from({ length: Math.floor(chance() * 2000) }, () => Math.floor(chance() * 256)));
  talker.sent = Buffer.concat([talker.sent, bytes]);
  talker.client.socket.write(bytes);
}

/** Another route for both pools, most of the time with an open member. */
function aPicture(chance: () => number): PoolPicture {
  const at = Math.floor(chance() * backends.length);
  const [open, other] = [backends[at], backends[1 - at]];
  if (open === undefined || other === undefined) throw new Error('two backends are needed');
  if (chance() < 0.2) return {};
  const standing = { address: other.address, standing: DEMOTED };
  return { open: { [`pg-${at + 1}`]: open.address }, others: { [`pg-${2 - at}`]: standing } };
}

/** Connections that received bytes of this client. */
function heardBy(talker: Talker): readonly BackendConnection[] {
  return backends
    .flatMap(({ connections }) => connections)
    .filter((connection) => connection.received().subarray(0, talker.startup.length).equals(talker.startup));
}

function isPrefix(beginning: Buffer, whole: Buffer): boolean {
  return whole.subarray(0, beginning.length).equals(beginning);
}

async function anEpisode(seed: number): Promise<readonly Talker[]> {
  const chance = chanceOf(seed);
  const talkers: Talker[] = [];
  lab.decide({ write: aPicture(chance), read: aPicture(chance) });
  for (let turn = 0; turn < TURNS; turn += 1) {
    if (talkers.length < CLIENTS && chance() < 0.2) talkers.push(await aTalker(talkers.length));
    for (const talker of talkers) if (chance() < 0.5) says(talker, chance);
    if (chance() < 0.15) lab.decide({ write: aPicture(chance), read: aPicture(chance) });
    for (const backend of backends) {
      if (chance() < 0.1) backend.behaviour = chance() < 0.7 ? 'echo' : 'stopping';
      const connection = backend.connections.at(Math.floor(chance() * backend.connections.length));
      if (chance() < 0.05) connection?.socket.resetAndDestroy();
    }
    if (chance() < 0.3) await clock.advance(50);
    await nextTurn();
  }
  for (const { client } of talkers) client.socket.end();
  for (const backend of backends) backend.behaviour = 'echo';
  lab.decide({ write: aPicture(() => 0.9), read: aPicture(() => 0.9) });
  await until('the end of everybody', () => {
    void clock.advance(100);
    return talkers.every(({ client }) => client.isClosed);
  });
  return talkers;
}

test.each(SEEDS)(
  'G7, G8: each direction is a prefix-exact copy, and each byte goes to one server (episode %i)',
  async (seed) => {
    const talkers = await anEpisode(seed);
    expect(talkers).toHaveLength(CLIENTS);
    for (const talker of talkers) {
      const heard = heardBy(talker);
      const received = talker.client.received();
      for (const connection of heard) expect(isPrefix(connection.received(), talker.sent)).toBe(true);
      // Servers that turned the client away may have got the startup packet before another one, and no other bytes.
      const saidMore = heard.filter((connection) => connection.received().length > talker.startup.length);
      expect(saidMore.length).toBeLessThanOrEqual(1);
      const isEcho = heard.some((connection) => isPrefix(received, connection.received()));
      const isToldWhy = errorFields(received) !== undefined;
      expect(received.length === 0 || isEcho || isToldWhy, talker.client.received().toString('latin1', 0, 200)).toBe(
        true,
      );
    }
  },
);
