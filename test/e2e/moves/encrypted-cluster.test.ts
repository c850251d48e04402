// The planned switchover where nothing is in plain text: members with `hostssl` alone and SCRAM, and an API that wants
// client certificates; Pointsman with TLS on both legs; drivers with sslmode=verify-full, and those that can bind their
// logins do. Idle sessions and those of five working drivers move, no client sees an error, and the packets between
// clients, Pointsman, members and their APIs have no readable query, row or password.
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { Client } from 'pg';
import { afterEach, beforeAll, expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/io.ts';
import { drivers, WorkingDriver } from '../../support/applications/driver-programs.ts';
import { waitForCandidates } from '../../support/clusters/candidates.ts';
import { clusterWithPointsman } from '../../support/clusters/cluster-with-pointsman.ts';
import { waitForMembers } from '../../support/clusters/pool-members.ts';
import { serverName } from '../../support/clusters/server-name.ts';
import { expectKept, lostSessions } from '../../support/moves/expect-kept.ts';
import { Fleet } from '../../support/moves/fleet.ts';
import { prependHostAccess } from '../../support/moves/host-access.ts';
import { listSessions } from '../../support/moves/move.ts';
import { movesConfig, prepareDatabase } from '../../support/moves/prepared-database.ts';
import { programs } from '../../support/moves/programs.ts';
import { temporaryDirectory } from '../../support/moves/temporary-directory.ts';
import type { PatroniCluster } from '../../support/patroni/cluster.ts';
import { describeOnPatroni } from '../../support/patroni/describe-on-patroni.ts';
import { memberAddress } from '../../support/patroni/site.ts';
import { startPatroniCluster } from '../../support/patroni/start-cluster.ts';
import { Authority } from '../../support/processes/authority.ts';
import { Command } from '../../support/processes/command.ts';
import { LoopbackCapture, whyNoCapture } from '../../support/processes/loopback-capture.ts';
import { configFor } from '../../support/processes/pointsman-config.ts';
import { describeUnless } from '../../support/runner/unless-missing.ts';
import { close, listen } from '../../support/sockets/listen.ts';
import { ADMIN_TOKEN } from '../../support/values/canaries.ts';

/** Sessions of each of six drivers. */
const IDLE = 9;
/** The same of each working driver. */
const SESSIONS = 3;
const WORKING = ['psycopg 2', 'pgjdbc', 'node-postgres', 'asyncpg', 'lib/pq'];
/** Those that bind their logins. */
const BINDS = new Set(['psql', 'psycopg2', 'psycopg 2', 'node-postgres']);
const WRITES_TABLE = 'create table driver_writes (id bigint generated always as identity primary key)';
const MEMBERS = 3;
/** Five runtimes start at once. */
const PATIENCE_MS = 60_000;
const OPERATOR = { username: 'operator', password: aText() };
/** Its password goes to the server as it is. */
const CLEAR = { user: 'svc_clear', password: aText() };

const idle = programs();
const working = drivers().filter(({ name }) => WORKING.includes(name));
const absent = [...idle, ...working].flatMap(({ missing }) => missing ?? []).concat(whyNoCapture() ?? []);
const missing = absent.length === 0 ? undefined : [...new Set(absent)].join('; ');

function aText(): string {
  return randomBytes(12).toString('hex');
}

function md5(text: string): string {
  return createHash('md5').update(text).digest('hex');
}

describeOnPatroni('G24: a planned switchover without plain text, on Patroni', () =>
  describeUnless(missing, 'with drivers', () => {
    const directory = temporaryDirectory();
    const closings: (() => Promise<unknown>)[] = [];
    let own: Readonly<Record<'ca' | 'cert' | 'key', string>>;

    async function startCluster(): Promise<PatroniCluster> {
      chmodSync(directory.path, 0o755);
      const authority = new Authority(directory.path, 'api-ca');
      own = { ca: authority.file, ...authority.sign('pointsman', ['DNS:pointsman.test']) };
      const addresses = Array.from({ length: MEMBERS }, (_, at) => `IP:${memberAddress(at)}`);
      const { cert, key } = authority.sign('api', addresses);
      return startPatroniCluster({
        members: MEMBERS,
        tls: true,
        apiTls: { certfile: cert, keyfile: key, cafile: authority.file, verify_client: 'required' },
        apiAuthentication: OPERATOR,
        parameters: { max_connections: 400 },
      });
    }

    const lab = clusterWithPointsman(startCluster, {
      sql: WRITES_TABLE,
      async pointsman(cluster) {
        await prepareDatabase(cluster);
        const api = { tls: own, auth: OPERATOR };
        // Longer than a slow machine needs: five runtimes begin TLS at once.
        const client = { startup_timeout: '60s' };
        const moving = { ...movesConfig(cluster, directory.path), workers: 2, client };
        return { ...moving, cluster: { ...configFor(cluster).cluster, api } };
      },
    });
    beforeAll(async () => {
      for (const program of [...idle, ...working]) await program.prepare(directory.path);
    });
    afterEach(async () => {
      for (const end of closings.splice(0).toReversed()) await end();
    });

    it('all sessions move, no client sees an error, and no packet has a readable text', async () => {
      const { cluster, pointsman } = lab;
      await waitForCandidates(lab);
      const old = await cluster.leader();
      await waitForMembers(lab, 'write', [old]);
      await cluster.sql(old.name, `create role ${CLEAR.user} login password '${CLEAR.password}'`);
      await prependHostAccess(cluster, [`hostssl all ${CLEAR.user} 127.0.0.0/8 password`]);
      const text = aText();
      const readableTexts = await capture(text);

      const to = { port: await pointsman.port('write'), as: cluster.app, isBound: true };
      const fleet = await Fleet.open(idle, IDLE, directory.path, to);
      closings.push(() => fleet.stop());
      const loads = working.map((driver) => new WorkingDriver(driver, directory.path, to));
      closings.push(() => Promise.all(loads.map((load) => load.stop())));
      const wanted = fleet.size + loads.length * SESSIONS;
      const areOpen = async (): Promise<boolean> => (await listSessions(pointsman)).length === wanted;
      await pointsman.waitFor('every session', areOpen, PATIENCE_MS);
      const areAtWork = (): boolean => loads.every(({ lines }) => lines.length > SESSIONS);
      await pointsman.waitFor('every driver at work', areAtWork, PATIENCE_MS);
      expect(await boundLogins()).toBe(
        IDLE * idle.filter(({ name }) => BINDS.has(name)).length +
          SESSIONS * working.filter(({ name }) => BINDS.has(name)).length,
      );
      await exchange(text, {});
      await exchange(text, CLEAR);

      const admin = `127.0.0.1:${await pointsman.port('admin')}`;
      // A slow machine asks so many sessions for longer than the usual 10 s.
      const args = ['switchover', '--admin', admin, '--yes', '--transaction-timeout', '20s'];
      const command = new Command(args, { POINTSMAN_ADMIN_TOKEN: ADMIN_TOKEN });
      const code = await command.ended();
      console.log(command.output);
      expect(code, `${command.output}\n${lostSessions(pointsman)}`).toBe(EXIT.ok);
      expect(command.output, lostSessions(pointsman)).toContain(`${wanted} sessions moved, 0 sessions ended, 0 cut`);
      const next = await cluster.leader();
      expect(next.name).not.toBe(old.name);
      const areThere = (): boolean =>
        loads.every(({ lines }) => lines.filter(({ said }) => said === serverName(next)).length > SESSIONS);
      await pointsman.waitFor('every driver at work on the next primary', areThere, PATIENCE_MS);
      expectKept(await fleet.judge(), pointsman);
      const told = loads.flatMap(({ driver, lines }) => lines.map(({ kind, said }) => [driver.name, kind, said]));
      expect(
        told.filter(([, kind]) => kind !== 'ok'),
        lostSessions(pointsman),
      ).toEqual([]);
      await exchange(text, {});
      expect(await readableTexts()).toEqual([]);
    }, 180_000);

    async function boundLogins(): Promise<number | undefined> {
      return lab.pointsman.metric('pointsman_logins_total{way="verifier",result="accepted"}');
    }

    /** A query and a row, on a session of its own. */
    async function exchange(text: string, as: Partial<typeof CLEAR>): Promise<void> {
      const client = new Client({
        host: '127.0.0.1',
        port: await lab.pointsman.port('write'),
        ...lab.cluster.app,
        ...as,
      });
      await client.connect();
      const { rows } = await client.query(`select md5('${text}') as digest`);
      expect(rows).toEqual([{ digest: md5(text) }]);
      await client.end();
    }

    /** Returns the function that ends the capture, and tells which texts it has seen. */
    async function capture(text: string): Promise<() => Promise<readonly string[]>> {
      const { cluster, pointsman } = lab;
      const { name } = await cluster.leader();
      const verifierOf = `select rolpassword from pg_authid where rolname = '${cluster.app.user}'`;
      const [row] = await cluster.sql(name, verifierOf);
      // In plain text: what the capture must see.
      const plain = createServer((socket) => void socket.on('error', () => {}).resume());
      const plainPort = await listen(plain);
      closings.push(() => close(plain));
      const ofMembers = cluster.members().flatMap(({ port, api }) => [port, Number(new URL(api).port)]);
      const ports = [...new Set([await pointsman.port('write'), plainPort, ...ofMembers])];
      const running = await LoopbackCapture.start(ports, {
        control: `control ${text}`,
        'a query': `'${text}'`,
        'the query of a driver': 'insert into driver_writes',
        'a row': md5(text),
        'a password': CLEAR.password,
        'a verifier': String(row?.['rolpassword']),
        'the password of the API': Buffer.from(`${OPERATOR.username}:${OPERATOR.password}`).toString('base64'),
        'a request to the API': '/switchover HTTP/1.1',
      });
      return async () => {
        await once(connect({ host: '127.0.0.1', port: plainPort }).end(`control ${text}`), 'close');
        const { packets, lost, found } = await running.stop();
        console.log(`capture: ${packets} packets, ${lost} lost`);
        expect(packets).toBeGreaterThan(1000);
        const { control, ...texts } = found;
        expect(control).toBeGreaterThan(0);
        return Object.keys(texts).filter((one) => texts[one] !== 0);
      };
    }
  }),
);
