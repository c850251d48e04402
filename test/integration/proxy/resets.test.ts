// G11: a reset connection leaves nothing behind, in any phase of its session: no session, no slot at a member, no
// connection to a server, no timer.
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startFakeBackend } from '../../support/fakes/fake-backend.ts';
import type { FakeBackend } from '../../support/fakes/fake-backend.ts';
import { ManualClock } from '../../support/waiting/manual-clock.ts';
import { QUERY } from '../../support/sockets/messages.ts';
import { SSL_REQUEST, aStartup } from '../../support/sockets/packets.ts';
import { startProxyLab } from '../../support/labs/proxy-lab.ts';
import type { ProxyLab, ProxyLabOptions } from '../../support/labs/proxy-lab.ts';
import { beginTls, connectHeldBack, connectTls } from '../../support/sockets/tls-client.ts';
import { SERVER } from '../../support/values/tls-files.ts';
import { until } from '../../support/waiting/until.ts';

const CLIENTS = 500;
/** Clients at work at the same time. */
const AT_ONCE = 50;

type Pool = 'read' | 'write';

let clock: ManualClock;
let backend: FakeBackend;
let lab: ProxyLab;

async function start(options: ProxyLabOptions = {}): Promise<void> {
  const table = { write: { open: { 'pg-1': backend.address } }, read: { open: { 'pg-1': backend.address } } };
  lab = await startProxyLab({ clock, table, ...options });
}

beforeEach(async () => {
  clock = new ManualClock();
  backend = await startFakeBackend('silent');
});

afterEach(() => lab.end(backend));

/** Connections at the server, as far as the server knows. */
function connections(): number {
  return backend.connections.filter(({ isClosed, hasEnded }) => !isClosed && !hasEnded).length;
}

async function aSocket(pool: Pool): Promise<Socket> {
  const socket = connect({ ...lab.address(pool), allowHalfOpen: true });
  socket.on('error', () => {}).on('data', () => {});
  await once(socket, 'connect');
  return socket;
}

/** Each client runs `act` from its connect to its end. */
async function everyClient(act: (at: number) => Promise<unknown>, clients = CLIENTS): Promise<void> {
  for (let from = 0; from < clients; from += AT_ONCE) {
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, clients - from) }, (_, at) => act(from + at)));
  }
}

async function expectNothingLeft(pool: Pool, clients = CLIENTS): Promise<void> {
  await until('every accept', () => lab.proxy.counts().get(pool)?.accepted === clients);
  await until('every end', () => lab.closed().length === clients).catch(() => undefined);
  await until('no connection to a server', () => connections() === 0).catch(() => undefined);
  const { states, members, closed } = lab.proxy.counts().get(pool) ?? {};
  expect({ states, members, closed, servers: connections() }).toEqual({
    states: { startup: 0, holding: 0, dialing: 0, relaying: 0, closing: 0 },
    members: new Map(),
    closed: clients,
    servers: 0,
  });
  expect(lab.reasons()).not.toContain('internal_error');
}

/**
 * The actions of a client before its reset. Some wait a varying number of turns, so that resets fall at many moments.
 */
const PHASES: readonly (readonly [string, (socket: Socket, at: number) => Promise<void>])[] = [
  ['before the first byte', async () => {}],
  ['in the middle of the startup message', async (socket) => void socket.write(aStartup().subarray(0, 9))],
  ['right behind the startup message', async (socket) => void socket.write(aStartup())],
  [
    'right behind the startup message and a byte more',
    async (socket) => void socket.write(Buffer.concat([aStartup(), Buffer.of(0)])),
  ],
  ['right behind the request for encryption', async (socket) => void socket.write(SSL_REQUEST)],
  [
    'some turns behind the startup message',
    async (socket, at) => {
      socket.write(aStartup());
      for (let turns = at % 12; turns > 0; turns -= 1) await nextTurn();
    },
  ],
  [
    'some turns behind the request for encryption',
    async (socket, at) => {
      socket.write(SSL_REQUEST);
      for (let turns = at % 12; turns > 0; turns -= 1) await nextTurn();
    },
  ],
];

const WAYS = (['read', 'write'] as const).flatMap((pool) =>
  (['auto', 'streams'] as const).map((relay) => ({ pool, relay })),
);

describe.each(WAYS)('G11: pool $pool, relay: $relay', ({ pool, relay }) => {
  test.each(PHASES)('clients that are reset %s leave nothing', async (_, act) => {
    await start({ relay });
    await everyClient(async (at) => {
      const socket = await aSocket(pool);
      await act(socket, at);
      socket.resetAndDestroy();
    });
    await expectNothingLeft(pool);
  });

  test('clients that are reset while they are served leave nothing', async () => {
    backend.behaviour = 'obliging';
    await start({ relay });
    await everyClient(async (at) => {
      const socket = await aSocket(pool);
      socket.write(aStartup());
      await once(socket, 'data');
      if (at % 2 === 0) socket.write('Q');
      socket.resetAndDestroy();
    });
    await expectNothingLeft(pool);
  });

  test('clients that are reset while their declined server waits with them leave nothing', async () => {
    backend.behaviour = 'obliging';
    await start({ relay });
    await everyClient(async (at) => {
      const socket = await aSocket(pool);
      socket.write(SSL_REQUEST);
      await once(socket, 'data');
      if (at % 2 === 0) socket.write(aStartup());
      socket.resetAndDestroy();
    });
    await expectNothingLeft(pool);
  });

  test('clients that are reset while they wait for a route, or synchronously with it, leave nothing', async () => {
    await start({ relay, table: {}, hold: { maxSessions: CLIENTS } });
    await everyClient(async () => {
      const socket = await aSocket(pool);
      socket.write(aStartup());
      const { accepted = 0 } = lab.proxy.counts().get(pool) ?? {};
      await until('it waits', () => (lab.proxy.counts().get(pool)?.states.holding ?? 0) > 0 && accepted > 0);
      socket.resetAndDestroy();
      lab.decide({ [pool]: { open: { 'pg-1': backend.address } } });
      lab.decide({});
    });
    await expectNothingLeft(pool);
  });

  test('servers that reset a connection at any moment leave nothing, and every client ends', async () => {
    backend.behaviour = 'obliging';
    await start({ relay });
    const clients: Socket[] = [];
    let reset = 0;
    const resetNewest = (): void => {
      for (const { socket } of backend.connections.slice(reset)) socket.resetAndDestroy();
      reset = backend.connections.length;
    };
    await everyClient(async (at) => {
      const socket = await aSocket(pool);
      clients.push(socket.on('end', () => socket.end()));
      const before = backend.connections.length;
      socket.write(aStartup());
      await until('the server', () => backend.connections.length > before);
      for (let turns = at % 8; turns > 0; turns -= 1) await nextTurn();
      resetNewest();
    });
    // A server that resets before its first reply has not taken the client in: writers wait on until their limit.
    const isOver = async (): Promise<boolean> => {
      await clock.advance(1_000);
      resetNewest();
      return clients.every(({ destroyed }) => destroyed);
    };
    await until('every client’s end', isOver, 15_000);
    await expectNothingLeft(pool);
  });
});

describe.each(['read', 'write'] as const)('G11: pool %s', (pool) => {
  test('a declined server that is reset just before its client goes on: another one serves the client', async () => {
    backend.behaviour = 'obliging';
    await start();
    for (let clients = 0; clients < CLIENTS; clients += 1) {
      const socket = await aSocket(pool);
      socket.write(SSL_REQUEST);
      await once(socket, 'data');
      // The proxy reads both in the same turn of the event loop.
      backend.last().socket.resetAndDestroy();
      socket.write(aStartup());
      await once(socket, 'data');
      socket.destroy();
    }
    await expectNothingLeft(pool);
  });
});

describe('G11: TLS of the proxy', () => {
  const TLS = { client: { tls: { mode: 'terminate', ...SERVER } } } as const;

  test('clients that are reset in the middle of the handshake leave nothing', async () => {
    await start(TLS);
    await everyClient(async (at) => {
      const { carrier } = await beginTls(lab.address('read'));
      for (let turns = at % 8; turns > 0; turns -= 1) await nextTurn();
      carrier.socket.resetAndDestroy();
    });
    await expectNothingLeft('read');
  });

  test.each([
    ['read', 'silent'],
    ['read', 'obliging'],
    ['write', 'silent'],
    ['write', 'obliging'],
  ] as const)(
    'pool %s, server %s: clients whose handshake, request and reset are read in one turn leave nothing',
    async (pool, behaviour) => {
      backend.behaviour = behaviour;
      await start(TLS);
      const clients = 20;
      await everyClient(async (at) => {
        const { socket, carrier, release } = await connectHeldBack(lab.address(pool));
        // With bytes behind its startup message a client that ends may still want the answers.
        socket.write(at % 2 === 0 ? aStartup() : Buffer.concat([aStartup(), QUERY]));
        await until('the records', () => socket.writableLength === 0);
        release();
        carrier.socket.resetAndDestroy();
      }, clients);
      await expectNothingLeft(pool, clients);
    },
  );

  test.each(['read', 'write'] as const)(
    'pool %s: clients that are reset right after the startup message leave nothing',
    async (pool) => {
      await start(TLS);
      // Half as many: a handshake costs more than all other steps.
      const clients = CLIENTS / 2;
      await everyClient(async (at) => {
        const { socket, carrier } = await connectTls(lab.address(pool));
        socket.write(aStartup());
        for (let turns = at % 6; turns > 0; turns -= 1) await nextTurn();
        carrier.socket.resetAndDestroy();
      }, clients);
      await expectNothingLeft(pool, clients);
    },
  );
});
