// Scenario 35: cancels by the client's own key (Ctrl-C in psql), through a port with several servers behind it.
import { Client } from 'pg';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { describeOnEveryCluster, ENCRYPTED_ON_PATRONI } from '../support/clusters/describe-on-clusters.ts';
import { aPacket } from '../support/sockets/packets.ts';
import { replicasOf, waitForMembers } from '../support/clusters/pool-members.ts';
import { connectRaw } from '../support/sockets/raw-client.ts';
import { startPointsman } from '../support/processes/pointsman-process.ts';
import type { PointsmanProcess } from '../support/processes/pointsman-process.ts';
import { configFor } from '../support/processes/pointsman-config.ts';
import { until } from '../support/waiting/until.ts';

const SLEEP = 'select pg_sleep(600)';
const SLEEPERS = `select count(*)::int as n from pg_stat_activity where query = '${SLEEP}' and state = 'active'`;

const keySchema = z.object({ processID: z.number(), secretKey: z.number() });

/** A session with a query that does not end by itself. */
class Sleeper {
  /** The SQLSTATE, `57014` after a cancel; undefined while the query runs. */
  endedWith: string | undefined;
  readonly key = Buffer.alloc(8);
  readonly #client: Client;

  private constructor(client: Client) {
    this.#client = client;
    const { processID, secretKey } = keySchema.parse(client);
    this.key.writeInt32BE(processID, 0);
    this.key.writeInt32BE(secretKey, 4);
  }

  static async open(port: number, as: { user: string; password: string; database: string }): Promise<Sleeper> {
    const client = new Client({ host: '127.0.0.1', port, ...as });
    client.on('error', () => undefined);
    await client.connect();
    return new Sleeper(client).sleep();
  }

  sleep(): this {
    this.endedWith = undefined;
    this.#client.query(SLEEP).catch((error: { readonly code?: string }) => {
      this.endedWith = error.code ?? 'a broken connection';
    });
    return this;
  }

  async isUsable(): Promise<boolean> {
    return (await this.#client.query('select 1')).rowCount === 1;
  }

  async close(): Promise<void> {
    await this.#client.end();
  }
}

async function close(sleepers: readonly Sleeper[]): Promise<void> {
  await Promise.all(sleepers.map((sleeper) => sleeper.close()));
}

describeOnEveryCluster({ name: 'cancels', legs: ENCRYPTED_ON_PATRONI }, (on) => {
  const lab = on.clusterWithPointsman();

  async function openSleepers(count: number, pointsman: PointsmanProcess = lab.pointsman): Promise<Sleeper[]> {
    await waitForMembers({ ...lab, pointsman }, 'read', await replicasOf(lab.cluster));
    const port = await pointsman.port('read');
    const sleepers = await Promise.all(Array.from({ length: count }, () => Sleeper.open(port, lab.cluster.app)));
    await untilAsleep(count);
    return sleepers;
  }

  /** The number of sleeping queries on all members. */
  async function asleep(): Promise<number> {
    const asked = lab.cluster.members().map(({ name }) => lab.cluster.sql(name, SLEEPERS));
    return (await Promise.all(asked)).reduce((sum, [row]) => sum + Number(row?.['n']), 0);
  }

  async function untilAsleep(count: number): Promise<void> {
    await lab.cluster.waitUntil(`${count} queries under way`, async () => (await asleep()) === count, 20_000);
  }

  /** Resolves at the end of the connection: PostgreSQL has handled the cancel by then. */
  async function cancel(key: Uint8Array, pool = 'read', pointsman: PointsmanProcess = lab.pointsman): Promise<void> {
    const client = await connectRaw({ host: '127.0.0.1', port: await pointsman.port(pool) });
    client.socket.end(aPacket(80877102, key));
    await until('the end of a cancel', () => client.hasEnded || client.isClosed, 10_000);
    client.socket.destroy();
  }

  it('scenario 35: 20 cancels through the read port with two replicas: each ends its own query only', async () => {
    const sleepers = await openSleepers(20);
    for (const [index, sleeper] of sleepers.entries()) {
      await cancel(sleeper.key, index % 2 === 0 ? 'read' : 'write');
      await until('the cancelled query', () => sleeper.endedWith !== undefined);
      const states = sleepers.map(({ endedWith }) => endedWith);
      expect(states).toEqual(sleepers.map((_, other) => (other <= index ? '57014' : undefined)));
    }
    for (const sleeper of sleepers) expect(await sleeper.isUsable()).toBe(true);
    await close(sleepers);
  });

  it('scenario 35: an unknown key and the keys of closed sessions end no query', async () => {
    const gone = await openSleepers(10);
    await Promise.all(gone.map(({ key }) => cancel(key)));
    await until('the cancels', () => gone.every(({ endedWith }) => endedWith === '57014'));
    await close(gone);
    const living = await openSleepers(10);
    for (const { key } of gone) await cancel(key);
    for (const { key } of living) {
      const guess = Buffer.from(key);
      guess.writeInt32BE(~key.readInt32BE(4), 4);
      await cancel(guess);
    }
    expect(await asleep()).toBe(10);
    expect(living.map(({ endedWith }) => endedWith)).toEqual(living.map(() => undefined));
    await Promise.all(living.map(({ key }) => cancel(key)));
    await until('the cancels', () => living.every(({ endedWith }) => endedWith === '57014'));
    await close(living);
  });

  it('scenario 35: 100 cancels at once: each ends its own query and no later one', async () => {
    const sleepers = await openSleepers(100);
    await Promise.all(sleepers.map(({ key }) => cancel(key)));
    await until('all of them', () => sleepers.every(({ endedWith }) => endedWith === '57014'), 10_000);
    // A late cancel would end these queries.
    for (const sleeper of sleepers) sleeper.sleep();
    await untilAsleep(100);
    expect(sleepers.map(({ endedWith }) => endedWith)).toEqual(sleepers.map(() => undefined));
    await Promise.all(sleepers.map(({ key }) => cancel(key)));
    await until('all of them', () => sleepers.every(({ endedWith }) => endedWith === '57014'), 10_000);
    await close(sleepers);
    const { text } = await lab.pointsman.admin('/metrics');
    const open = text.split('\n').filter((line) => /^pointsman_sessions\{pool="read",.*\} [1-9]/.test(line));
    expect(open).toEqual([]);
  });

  it('scenario 35: a cancel through another Pointsman before the same cluster works', async () => {
    const other = await startPointsman(configFor(lab.cluster));
    try {
      await other.waitUntilReady();
      await waitForMembers({ ...lab, pointsman: other }, 'read', await replicasOf(lab.cluster));
      const sleepers = await openSleepers(4);
      for (const [index, sleeper] of sleepers.entries()) {
        await cancel(sleeper.key, 'read', other);
        await until('the cancelled query', () => sleeper.endedWith !== undefined);
        const states = sleepers.map(({ endedWith }) => endedWith);
        expect(states).toEqual(sleepers.map((_, at) => (at <= index ? '57014' : undefined)));
      }
      await close(sleepers);
    } finally {
      await other.stop();
    }
  });
});
