// A Pointsman process under hostile clients, one kind after another, beside two honest ones: a session with a query
// each 100 ms and a client that connects each 500 ms. Both must see no error; the test prints their waiting times.
import { readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { FakeCluster } from '../../support/labs/app-lab.ts';
import { aCancelOf, aStartup, SSL_REQUEST } from '../../support/sockets/packets.ts';
import { monotonicMs } from '../../support/waiting/wait.ts';
import { type PointsmanProcess, startPointsman } from '../../support/processes/pointsman-process.ts';
import { connectRaw, type RawClient } from '../../support/sockets/raw-client.ts';
import { SERVER } from '../../support/values/tls-files.ts';
import { describeUnless } from '../../support/runner/unless-missing.ts';
import { until } from '../../support/waiting/until.ts';

const STARTUP_TIMEOUT_MS = 1000;
/** The number of simultaneous connects. The system limits the queue of connections before their accept. */
const BATCH = 100;
const CANCEL_REQUEST = 80877102;
const GUESSED_CANCELS_PER_SECOND = 20;
const MEBIBYTE = 1024 * 1024;

/** The two honest clients, which run as long as the attacks. */
class Canary {
  readonly queryMs: number[] = [];
  readonly connectMs: number[] = [];
  readonly errors: string[] = [];
  readonly #port: number;
  readonly #stopping = new AbortController();
  #work: Promise<unknown> = Promise.resolve();

  constructor(port: number) {
    this.#port = port;
  }

  async start(): Promise<void> {
    const client = await this.#connect();
    this.#work = Promise.all([
      this.#every(100, this.queryMs, () => client.query('select 1')).then(() => client.end()),
      this.#every(500, this.connectMs, async () => {
        const fresh = await this.#connect();
        await fresh.query('select 1');
        await fresh.end();
      }),
    ]);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#work;
  }

  async #connect(): Promise<Client> {
    const client = new Client({ host: '127.0.0.1', port: this.#port, user: 'app', database: 'app' });
    client.on('error', (error) => this.errors.push(`lost: ${error.message}`));
    await client.connect();
    return client;
  }

  async #every(periodMs: number, tookMs: number[], act: () => Promise<unknown>): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const beganMs = monotonicMs();
      await act().catch((error: unknown) => this.errors.push(String(error)));
      tookMs.push(monotonicMs() - beganMs);
      await delay(periodMs, undefined, { signal }).catch(() => undefined);
    }
  }
}

function percentile(values: readonly number[], share: number): number {
  return Math.round(values.toSorted((a, b) => a - b)[Math.floor(share * (values.length - 1))] ?? Number.NaN);
}

describeUnless(
  process.platform === 'linux' ? undefined : 'Linux, whose /proc tells of descriptors',
  'under attack',
  () => {
    let cluster: FakeCluster;
    let pointsman: PointsmanProcess;
    let canary: Canary;
    let port = 0;
    let before: { readonly descriptors: number; readonly bytes: number };

    beforeAll(async () => {
      cluster = await FakeCluster.start();
      cluster.primary.postgres.behaviour = 'obliging';
      pointsman = await startPointsman({
        cluster: cluster.section(),
        listeners: [{ address: '127.0.0.1:0', pool: 'write' }],
        client: { startup_timeout: `${STARTUP_TIMEOUT_MS}ms`, tls: { mode: 'terminate', ...SERVER } },
        admin: { address: '127.0.0.1:0' },
        log: { level: 'info', format: 'json' },
      });
      await pointsman.waitUntilReady();
      port = await pointsman.port('write');
      canary = new Canary(port);
      await canary.start();
      await until('the canary at work', () => canary.queryMs.length > 2 && canary.connectMs.length > 1);
      before = { descriptors: descriptors(), bytes: residentBytes() };
    }, 30_000);
    afterAll(async () => {
      await canary.stop();
      await pointsman.stop();
      await cluster.stop();
    });

    const descriptors = (): number => readdirSync(`/proc/${pointsman.pid}/fd`).length;

    function residentBytes(): number {
      const kilobytes = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pointsman.pid}/status`, 'utf8'))?.[1];
      return Number(kilobytes) * 1024;
    }

    async function attackers(
      count: number,
      act: (client: RawClient, n: number) => void,
    ): Promise<readonly RawClient[]> {
      const clients: RawClient[] = [];
      while (clients.length < count) {
        const batch = Math.min(BATCH, count - clients.length);
        const come = async (n: number): Promise<RawClient> => {
          const client = await connectRaw({ host: '127.0.0.1', port });
          act(client, n);
          return client;
        };
        clients.push(...(await Promise.all(Array.from({ length: batch }, (_, n) => come(clients.length + n)))));
      }
      return clients;
    }

    /** Waits for the end of all sessions at the server, except the canary's. */
    async function untilNobodyIsLeft(): Promise<void> {
      await until('no session but the canary’s', () => cluster.primary.postgres.open() <= 2, 10_000);
    }

    it('cuts off clients that send their startup message one byte at a time, and gives the reason', async () => {
      const startup = aStartup();
      const slow = await attackers(200, ({ socket }) => socket.write(startup.subarray(0, 1)));
      let sent = 1;
      const drip = setInterval(() => {
        for (const { socket } of slow) if (socket.writable) socket.write(startup.subarray(sent, sent + 1));
        sent += 1;
      }, 100);
      await untilGone(slow).finally(() => clearInterval(drip));
      const words = slow.map((client) => client.received().toString());
      expect(words.filter((text) => !text.includes('08P01') || !text.includes('startup_timeout'))).toEqual([]);
    });

    it('cuts off silent clients, and those that stop in the middle of a TLS handshake', async () => {
      const silent = await attackers(400, ({ socket }, n) => {
        if (n % 2 === 1) socket.write(SSL_REQUEST);
      });
      await untilGone(silent);
    });

    it('refuses a flood of bytes that are not the protocol', async () => {
      const garbage = Buffer.alloc(MEBIBYTE, 0xfe);
      const flooding = await attackers(50, ({ socket }) => socket.write(garbage));
      await untilGone(flooding);
    });

    it('keeps nothing of sessions that send without end, read nothing, and reset', async () => {
      const questions = Buffer.concat(Array.from({ length: 4000 }, () => aQuery('select 1')));
      const flooding = await attackers(10, ({ socket }) => {
        socket.pause();
        socket.write(aStartup());
        for (let times = 0; times < 100; times += 1) socket.write(questions);
      });
      await untilStill(() => flooding.reduce((sum, { socket }) => sum + socket.writableLength, 0));
      for (const { socket } of flooding) socket.resetAndDestroy();
      await untilNobodyIsLeft();
    });

    it('keeps nothing of clients that reset at every stage', async () => {
      const startup = aStartup();
      const stages = [undefined, startup.subarray(0, 10), startup, Buffer.concat([startup, aQuery('select 1')])];
      const resetting = await attackers(400, ({ socket }, n) => {
        const words = stages[n % stages.length];
        if (words === undefined) socket.resetAndDestroy();
        else socket.write(words, () => setImmediate(() => socket.resetAndDestroy()));
      });
      await until('the end of every attacker', () => resetting.every(({ isClosed }) => isClosed));
      await untilNobodyIsLeft();
    });

    it('passes on few of the cancels with an unknown key', async () => {
      const beganMs = monotonicMs();
      const cancels = await attackers(2000, ({ socket }, n) => socket.write(aCancelOf(n + 1, Buffer.alloc(4, 1))));
      await untilGone(cancels);
      const seconds = (monotonicMs() - beganMs) / 1000;
      const seen = cluster.primary.postgres.connections.filter((one) => isCancel(one.received())).length;
      expect(seen).toBeLessThanOrEqual(GUESSED_CANCELS_PER_SECOND * (seconds + 1));
    });

    it('logs little about clients that it refuses, for any amount of input', async () => {
      const linesBefore = pointsman.lines.length;
      const startup = aStartup({ user: 'app', database: `app@${'\u0001'.repeat(9_800)}` });
      const refused = await attackers(2000, ({ socket }) => socket.write(startup));
      await untilGone(refused);
      expect(refused.filter((client) => !client.received().toString().includes('unknown_pool'))).toEqual([]);
      const written = JSON.stringify(pointsman.lines.slice(linesBefore)).length;
      expect(written).toBeLessThan(100_000);
    });

    it('answers health checks while other clients hold and reopen connections to its admin port', async () => {
      const adminPort = await pointsman.port('admin');
      const holding = new AbortController();
      const hold = async (): Promise<void> => {
        while (!holding.signal.aborted) {
          const socket = connect({ host: '127.0.0.1', port: adminPort });
          await new Promise<void>((resolve) => {
            socket.on('error', () => undefined).once('close', () => resolve());
            holding.signal.addEventListener('abort', () => socket.destroy(), { once: true });
          });
          await delay(20);
        }
      };
      const holders = Array.from({ length: 80 }, hold);
      const answers: string[] = [];
      try {
        for (let n = 0; n < 20; n += 1) {
          answers.push(await pointsman.admin('/livez').then(({ status }) => String(status), String));
          await delay(50);
        }
      } finally {
        holding.abort();
        await Promise.all(holders);
      }
      expect(new Set(answers)).toEqual(new Set(['200']));
    });

    it('afterwards: the canary saw no error, and sessions and descriptors are back', async () => {
      await untilNobodyIsLeft();
      await until('descriptors back', () => descriptors() <= before.descriptors + 2, 10_000);
      const { queryMs, connectMs, errors } = canary;
      console.log(
        `under attack: query p50 ${percentile(queryMs, 0.5)} p99 ${percentile(queryMs, 0.99)} of ${queryMs.length}, ` +
          `connect p50 ${percentile(connectMs, 0.5)} p99 ${percentile(connectMs, 0.99)} of ${connectMs.length}, ms; ` +
          `RSS ${Math.round((residentBytes() - before.bytes) / MEBIBYTE)} MiB more`,
      );
      expect(errors).toEqual([]);
    });
  },
);

function aQuery(text: string): Buffer {
  const query = Buffer.from(`Q\0\0\0\0${text}\0`, 'latin1');
  query.writeUInt32BE(query.length - 1, 1);
  return query;
}

function isCancel(received: Buffer): boolean {
  return received.length >= 8 && received.readUInt32BE(4) === CANCEL_REQUEST;
}

/** Resolves when the figure has not changed for a while. */
async function untilStill(figure: () => number): Promise<void> {
  let [seen, since] = [figure(), monotonicMs()];
  await until('standstill', () => {
    const now = figure();
    if (now !== seen) [seen, since] = [now, monotonicMs()];
    return monotonicMs() - since > 500;
  });
}

async function untilGone(clients: readonly RawClient[]): Promise<void> {
  await until(
    'the end of every attacker',
    () => clients.every(({ hasEnded, isClosed }) => hasEnded || isClosed),
    10_000,
  );
  for (const { socket } of clients) socket.destroy();
}
