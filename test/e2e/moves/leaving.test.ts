// Sessions that move because their member leaves its pools, though it could still serve: an operator drains it, its
// tags exclude it, or it is no member any more. No client sees an error, and no reader goes back in time.
import { afterEach, beforeEach, expect, it } from 'vitest';
import { whyNoTool } from '../../support/applications/client-tools.ts';
import { CounterReaders } from '../../support/applications/counter-readers.ts';
import { describeOnEveryCluster, ENCRYPTED_ON_PATRONI } from '../../support/clusters/describe-on-clusters.ts';
import { replicasOf, waitForMembers } from '../../support/clusters/pool-members.ts';
import { serverName } from '../../support/clusters/server-name.ts';
import { expectKept, lostSessions } from '../../support/moves/expect-kept.ts';
import { Fleet } from '../../support/moves/fleet.ts';
import { listSessions } from '../../support/moves/move.ts';
import { rowsOf, startPgbench, STEADY_RATE, storedRows } from '../../support/moves/pgbench.ts';
import type { RunningPgbench } from '../../support/moves/pgbench.ts';
import { movesConfig, prepareDatabase } from '../../support/moves/prepared-database.ts';
import { programs } from '../../support/moves/programs.ts';
import type { ProgramTarget } from '../../support/moves/programs.ts';
import { temporaryDirectory } from '../../support/moves/temporary-directory.ts';
import type { MemberAddress } from '../../support/patroni/member.ts';
import { Command } from '../../support/processes/command.ts';
import { configFor } from '../../support/processes/pointsman-config.ts';
import { describeUnless } from '../../support/runner/unless-missing.ts';
import { ADMIN_TOKEN } from '../../support/values/canaries.ts';

/** Connections of each driver, in each pool. */
const POOLED = 8;
const READERS = 6;
const CLIENTS = 2;
const PATIENCE_MS = 60_000;
const ON_LEAVE = { operator: 'move', tagged_out: 'move', removed: 'move', fallback_over: 'move', lagging: 'move' };

const drivers = programs().filter(({ name }) => ['node-postgres', 'psycopg2'].includes(name));
const absent = drivers.flatMap(({ missing }) => missing ?? []).concat(whyNoTool('pgbench') ?? []);
const missing = absent.length === 0 ? undefined : absent.join('; ');

describeOnEveryCluster({ name: 'a member that leaves its pools', legs: ENCRYPTED_ON_PATRONI }, (on) =>
  describeUnless(missing, 'with pgbench', () => {
    const directory = temporaryDirectory();
    let config: Record<string, unknown> = {};
    let source = 0;
    let write: ProgramTarget;
    let fleets: readonly Fleet[] = [];
    let bench: RunningPgbench | undefined;
    let readers: CounterReaders | undefined;
    const lab = on.clusterWithPointsman({
      async pointsman(cluster) {
        await prepareDatabase(cluster);
        const read = { check: '/replica?lag=64MB', fallback: { pool: 'write' }, on_leave: ON_LEAVE };
        const pools = {
          write: { check: '/primary', on_leave: { operator: 'move' } },
          read: { ...read, relocate_after: '200ms', slow_start: 0 },
        };
        config = { ...movesConfig(cluster, directory.path), pools };
        return config;
      },
    });

    beforeEach(async () => {
      const { cluster, pointsman } = lab;
      await cluster.waitUntilHealthy();
      await waitForMembers(lab, 'write', [await cluster.leader()]);
      await waitForMembers(lab, 'read', await replicasOf(cluster));
      write = { port: await pointsman.port('write'), as: cluster.app };
      const read = { ...write, port: await pointsman.port('read') };
      fleets = await Promise.all([write, read].map((to) => Fleet.open(drivers, POOLED, directory.path, to)));
      source += 1;
      bench = startPgbench(write, {
        mode: 'simple',
        clients: CLIENTS,
        rate: STEADY_RATE,
        directory: directory.path,
        source: sourceName(),
      });
      readers = await CounterReaders.open(READERS, 'select count(*) from loaded', { port: read.port, ...cluster.app });
    });
    afterEach(async () => {
      await readers?.stop();
      await bench?.finish().catch(() => undefined);
      await Promise.all(fleets.map((fleet) => fleet.stop()));
    });

    it('an operator drains a replica: its sessions go on at the other one', { timeout: 120_000 }, async () => {
      const [one, other] = await replicasOf(lab.cluster);
      await operate('drain', one.name, '--wait', '--timeout', '60s');
      await untilReadersOn(other);
      expect(await sessionsOn(one)).toBe(0);
      await operate('resume', one.name);
      await waitForMembers(lab, 'read', [one, other]);
      await expectNoTrace();
    });

    it('all replicas are drained: their sessions go to the primary, and come back', { timeout: 120_000 }, async () => {
      const { cluster } = lab;
      const [one, other] = await replicasOf(cluster);
      for (const { name } of [one, other]) await operate('drain', name);
      await untilReadersOn(await cluster.leader());
      const areEmpty = async (): Promise<boolean> => (await sessionsOn(one)) + (await sessionsOn(other)) === 0;
      await lab.pointsman.waitFor('replicas without sessions', areEmpty, PATIENCE_MS);
      await operate('resume', one.name);
      await untilReadersOn(one);
      await operate('resume', other.name);
      await waitForMembers(lab, 'read', [one, other]);
      await expectNoTrace();
    });

    it('an operator drains the primary: its sessions wait until it is resumed', { timeout: 120_000 }, async () => {
      const { cluster, pointsman } = lab;
      const leader = await cluster.leader();
      await operate('drain', leader.name);
      const wanted = POOLED * drivers.length + CLIENTS;
      const areParked = async (): Promise<boolean> =>
        (await pointsman.metric('pointsman_sessions_parked{pool="write"}')) === wanted;
      await pointsman.waitFor('parked sessions', areParked, PATIENCE_MS);
      expect(await sessionsOn(leader)).toBe(0);
      await operate('resume', leader.name);
      await waitForMembers(lab, 'write', [leader]);
      await expectNoTrace();
    });

    it('a replica is tagged noloadbalance: its sessions go on at the other one', { timeout: 120_000 }, async () => {
      const [one, other] = await replicasOf(lab.cluster);
      await lab.cluster.setTags(one.name, { noloadbalance: true });
      await waitForMembers(lab, 'read', [other]);
      await untilReadersOn(other);
      const isEmpty = async (): Promise<boolean> => (await sessionsOn(one)) === 0;
      await lab.pointsman.waitFor('a member without sessions', isEmpty, PATIENCE_MS);
      await lab.cluster.setTags(one.name, {});
      await waitForMembers(lab, 'read', [one, other]);
      await expectNoTrace();
    });

    it(
      'a reload takes a replica out of the cluster: its sessions go on at the other one',
      { timeout: 120_000 },
      async () => {
        const { cluster, pointsman } = lab;
        const [one, other] = await replicasOf(cluster);
        const named = (members: readonly MemberAddress[]): Promise<void> => {
          const listed = members.map(({ name, api, host, port }) => ({ name, api, postgres: `${host}:${port}` }));
          const allow = { ports: [...new Set(cluster.members().map(({ port }) => port))] };
          const { scope } = cluster;
          return pointsman.configure(
            configFor(cluster, { ...config, cluster: { scope, allow, discovery: 'static', members: listed } }),
          );
        };
        await named(cluster.members());
        await pointsman.operate('/reload', ADMIN_TOKEN);
        await waitForMembers(lab, 'read', [one, other]);
        await named(cluster.members().filter(({ name }) => name !== one.name));
        await pointsman.operate('/reload', ADMIN_TOKEN);
        await untilReadersOn(other);
        await expectNoTrace();
        await named(cluster.members());
        await pointsman.operate('/reload', ADMIN_TOKEN);
        await waitForMembers(lab, 'read', [one, other]);
      },
    );

    /** Nothing reached a client: no error, no session ended, no state is gone, each acknowledged row is there. */
    async function expectNoTrace(): Promise<void> {
      const { cluster, pointsman } = lab;
      const result = await bench?.finish();
      if (result === undefined) throw new Error('no pgbench');
      expect([result.errors, readers?.problems()], lostSessions(pointsman)).toEqual([[], []]);
      expect(await storedRows(cluster, sourceName())).toBe(rowsOf('simple', result));
      for (const fleet of fleets) {
        expect(fleet.size).toBe(POOLED * drivers.length);
        expectKept(await fleet.judge('anywhere'), pointsman);
      }
    }

    function sourceName(): string {
      return `leaving-${source}`;
    }

    async function untilReadersOn(member: MemberAddress): Promise<void> {
      await lab.pointsman.waitFor(
        `every reader on ${member.name}`,
        () => {
          if (readers !== undefined && readers.problems().length > 0) {
            throw new Error(`${readers.problems().join('; ')}\n${lostSessions(lab.pointsman)}`);
          }
          return readers?.areOn(serverName(member)) === true;
        },
        PATIENCE_MS,
      );
    }

    async function sessionsOn({ name }: MemberAddress): Promise<number> {
      return (await listSessions(lab.pointsman)).filter(({ member }) => member === name).length;
    }

    async function operate(...words: readonly string[]): Promise<void> {
      const admin = `127.0.0.1:${await lab.pointsman.port('admin')}`;
      const command = new Command([...words, '--admin', admin, ...(words[0] === 'drain' ? ['--yes'] : [])], {
        POINTSMAN_ADMIN_TOKEN: ADMIN_TOKEN,
      });
      expect(await command.ended(), command.output).toBe(0);
    }
  }),
);
