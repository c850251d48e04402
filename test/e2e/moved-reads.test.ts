// Read sessions go on at another member when theirs lags, was promoted, served as the fallback, or is drained by the
// operator. Their clients notice nothing, and none of them ever goes back in time. Logins with SCRAM, two workers.
import { expect, it } from 'vitest';
import { EXIT } from '../../src/cli/io.ts';
import { CounterReaders } from '../support/applications/counter-readers.ts';
import { describeOnEveryCluster, ENCRYPTED_ON_PATRONI } from '../support/clusters/describe-on-clusters.ts';
import { replicasOf, waitForMembers } from '../support/clusters/pool-members.ts';
import { serverName } from '../support/clusters/server-name.ts';
import { writeWal } from '../support/clusters/write-wal.ts';
import { movesConfig, prepareDatabase } from '../support/moves/prepared-database.ts';
import { temporaryDirectory } from '../support/moves/temporary-directory.ts';
import type { MemberAddress } from '../support/patroni/member.ts';
import { Command } from '../support/processes/command.ts';
import { median } from '../support/values/median.ts';
import { ADMIN_TOKEN } from '../support/values/canaries.ts';

const READERS = 6;
const LIMIT_MS = 60_000;
const MORE_THAN_THE_BOUND_MB = 32;
const COUNTER = 'select n from counter';
const ON_LEAVE = { lagging: 'move', promoted: 'move', fallback_over: 'move', operator: 'move', tagged_out: 'move' };

describeOnEveryCluster({ name: 'read sessions that move', legs: ENCRYPTED_ON_PATRONI }, (on) => {
  const directory = temporaryDirectory();
  const lab = on.clusterWithPointsman({
    async pointsman(cluster) {
      await prepareDatabase(cluster);
      return {
        ...movesConfig(cluster, directory.path),
        workers: 2,
        pools: {
          read: {
            check: '/replica?lag=16MB',
            fallback: { pool: 'write' },
            on_leave: ON_LEAVE,
            relocate_after: '200ms',
            slow_start: 0,
          },
        },
      };
    },
    sql: `create table counter (n int); insert into counter values (0)`,
  });

  async function count(): Promise<void> {
    const { name } = await lab.cluster.leader();
    await lab.cluster.sql(name, 'update counter set n = n + 1');
  }

  async function countUntil(end: AbortSignal): Promise<void> {
    while (!end.aborted) await count().catch(() => undefined);
  }

  async function withReaders(run: (readers: CounterReaders) => Promise<void>): Promise<void> {
    const { cluster, pointsman } = lab;
    const readers = await CounterReaders.open(READERS, COUNTER, { port: await pointsman.port('read'), ...cluster.app });
    const end = new AbortController();
    const counting = countUntil(end.signal);
    try {
      await run(readers);
    } finally {
      end.abort();
      await counting;
      await readers.stop();
    }
    expect(readers.problems(), pointsman.explain()).toEqual([]);
    const longest = readers.longestMs();
    const figures = [median(longest), Math.max(...longest)].map(Math.round).join(', ');
    console.log(`reads that move, on ${on.kind}: longest answer of a reader, ms: median and most ${figures}`);
  }

  async function drain({ name }: MemberAddress): Promise<void> {
    const admin = `127.0.0.1:${await lab.pointsman.port('admin')}`;
    const command = new Command(['drain', name, '--wait', '--admin', admin], { POINTSMAN_ADMIN_TOKEN: ADMIN_TOKEN });
    expect(await command.ended(), command.output).toBe(EXIT.ok);
  }

  async function untilOn(readers: CounterReaders, member: MemberAddress): Promise<void> {
    const where = (): string => `${readers.servers().join(' ')} ${readers.problems().join('; ')}`;
    const isThere = (): boolean => {
      if (readers.problems().length > 0) throw new Error(where());
      return readers.areOn(serverName(member));
    };
    await lab.pointsman.waitFor(`every reader on ${member.name}`, isThere, LIMIT_MS);
  }

  it('a replica stops to replay: its sessions go on at the other one', { timeout: 2 * LIMIT_MS }, async () => {
    const { cluster, pointsman } = lab;
    const [lagging, other] = await replicasOf(cluster);
    await waitForMembers(lab, 'read', [lagging, other]);
    await withReaders(async (readers) => {
      await pointsman.waitFor('readers on both', () => new Set(readers.servers()).size === 2, LIMIT_MS);
      await cluster.lagReplica(lagging.name);
      try {
        await writeWal(cluster, MORE_THAN_THE_BOUND_MB);
        await untilOn(readers, other);
      } finally {
        await cluster.unlagReplica(lagging.name);
      }
    });
    await waitForMembers(lab, 'read', [lagging, other]);
  });

  it(
    'G24: a drained replica: its sessions wait until the other one shows all that they have seen',
    async () => {
      const { cluster, pointsman } = lab;
      const [drained, behind] = await replicasOf(cluster);
      await waitForMembers(lab, 'read', [drained, behind]);
      await pointsman.operate(`/members/${behind.name}/drain`, ADMIN_TOKEN);
      await waitForMembers(lab, 'read', [drained]);
      await withReaders(async (readers) => {
        await untilOn(readers, drained);
        const [before = 0] = readers.seen();
        await cluster.lagReplica(behind.name);
        await pointsman.waitFor('later reads', () => readers.seen().every((value) => value > before), LIMIT_MS);
        await pointsman.operate(`/members/${behind.name}/resume`, ADMIN_TOKEN);
        await waitForMembers(lab, 'read', [drained, behind]);
        await pointsman.operate(`/members/${drained.name}/drain`, ADMIN_TOKEN);
        await pointsman.waitFor('parked sessions', async () => (await parked()) === READERS, LIMIT_MS);
        await cluster.unlagReplica(behind.name);
        await untilOn(readers, behind);
        await pointsman.operate(`/members/${drained.name}/resume`, ADMIN_TOKEN);
      });
      await waitForMembers(lab, 'read', [drained, behind]);
    },
    3 * LIMIT_MS,
  );

  it('the fallback is over: sessions go from the primary to a replica', { timeout: 3 * LIMIT_MS }, async () => {
    const { cluster, pointsman } = lab;
    const leader = await cluster.leader();
    const [first, second] = await replicasOf(cluster);
    for (const { name } of [first, second]) await pointsman.operate(`/members/${name}/drain`, ADMIN_TOKEN);
    await waitForMembers(lab, 'read', [leader]);
    await withReaders(async (readers) => {
      await untilOn(readers, leader);
      const before = readers.seen();
      await cluster.lagReplica(first.name);
      const isLater = (): boolean => readers.seen().every((value, at) => value > (before[at] ?? 0));
      await pointsman.waitFor('later reads', isLater, LIMIT_MS);
      await pointsman.operate(`/members/${first.name}/resume`, ADMIN_TOKEN);
      await pointsman.waitFor('parked sessions', async () => (await parked()) === READERS, LIMIT_MS);
      await cluster.unlagReplica(first.name);
      await untilOn(readers, first);
      // And back, when no replica is left.
      await drain(first);
      await untilOn(readers, leader);
    });
    for (const { name } of [first, second]) await pointsman.operate(`/members/${name}/resume`, ADMIN_TOKEN);
    await waitForMembers(lab, 'read', [first, second]);
  });

  it(
    'a promoted replica: its sessions go on at a replica of the next timeline',
    { timeout: 3 * LIMIT_MS },
    async () => {
      const { cluster, pointsman } = lab;
      const [promoted, other] = await replicasOf(cluster);
      await waitForMembers(lab, 'read', [promoted, other]);
      await withReaders(async (readers) => {
        await pointsman.waitFor('readers on both', () => new Set(readers.servers()).size === 2, LIMIT_MS);
        await cluster.switchover({ to: promoted.name });
        const isServed = (): boolean =>
          readers.problems().length > 0 || !readers.servers().includes(serverName(promoted));
        await pointsman.waitFor('no reader on the new primary', isServed, LIMIT_MS);
        const seen = readers.seen();
        await pointsman.waitFor(
          'later reads',
          () => readers.seen().every((value, at) => value > (seen[at] ?? 0)),
          LIMIT_MS,
        );
      });
    },
  );

  /** Sessions without a server. */
  async function parked(): Promise<number> {
    return (await lab.pointsman.metric('pointsman_sessions_parked{pool="read"}')) ?? 0;
  }
});
