// `pointsman switchover` in front of a busy application: it fails no connect and cuts no transaction. When it cannot go
// on, or the operator stops it, in whichever phase: clients are served again, and no client stays held.
import { Client } from 'pg';
import { z } from 'zod';
import { afterEach, expect, it } from 'vitest';
import { PHASES } from '../../src/documents/switchover-document.ts';
import type { Phase } from '../../src/documents/switchover-document.ts';
import { CREATE_WRITES, startConnectLoad, WRITE_ROW } from '../support/applications/connect-load.ts';
import type { ConnectLoad } from '../support/applications/connect-load.ts';
import { WorkingSession } from '../support/applications/working-session.ts';
import { waitForCandidates } from '../support/clusters/candidates.ts';
import { describeOnEveryCluster, ENCRYPTED_ON_PATRONI } from '../support/clusters/describe-on-clusters.ts';
import type { Lab } from '../support/clusters/describe-on-clusters.ts';
import { Command } from '../support/processes/command.ts';
import { until } from '../support/waiting/until.ts';
import { ADMIN_TOKEN } from '../support/values/canaries.ts';

const PATIENCE_MS = 40_000;
const POOLED = 100;
const BUSY = 20;

const operations = z.looseObject({
  operations: z.array(z.looseObject({ id: z.string(), state: z.string(), phase: z.enum(PHASES) })),
});

describeOnEveryCluster({ name: 'pointsman switchover', legs: ENCRYPTED_ON_PATRONI }, scenarios);

function scenarios(on: Lab): void {
  const lab = on.clusterWithPointsman({
    sql: CREATE_WRITES,
    // Every client that waited connects at once.
    cluster: { parameters: { max_connections: 600 } },
    pointsman: { admin: { address: '127.0.0.1:0', token: ADMIN_TOKEN } },
  });
  const closings: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closings.splice(0)) await close();
  });

  it('fails no connect of up to 50 a second and cuts no transaction of 120 sessions', async () => {
    await healthy();
    const port = await lab.pointsman.port('write');
    const load = await connects(50);
    const pooled = Array.from({ length: POOLED }, (_, index) => session(port, index / POOLED, 2000));
    const busy = Array.from({ length: BUSY }, (_, index) => session(port, index / BUSY, 50));
    const sessions = [...pooled, ...busy];
    await until('the load', () => load.attempts.length > 50 && sessions.every(hasServer), PATIENCE_MS);
    const old = await lab.cluster.leader();

    const command = await start();
    expect([await command.ended(), command.output]).toEqual([0, expect.stringMatching(/is the primary/)]);
    const next = await lab.cluster.leader();
    expect(next.name).not.toBe(old.name);
    await until('sessions on the next primary', () => sessions.every(isOn(next.port)), PATIENCE_MS);

    const attempts = await load.stop();
    await Promise.all(sessions.map((one) => one.stop()));
    expect(attempts.flatMap(({ connectError }) => connectError ?? [])).toEqual([]);
    // On a machine this busy a client may take too long between its login and its statement.
    const late = attempts.filter(({ error }) => error !== undefined);
    expect(late.filter(({ error }) => error?.includes('evicted_switchover)') !== true)).toEqual([]);
    expect(sessions.flatMap(({ failedConnects }) => failedConnects)).toEqual([]);
    const ends = sessions.flatMap((one) => one.ends);
    expect(ends.filter(({ inTransaction }) => inTransaction)).toEqual([]);
    expect(ends.length).toBeGreaterThanOrEqual(sessions.length);
    const longest = Math.max(...attempts.map(({ startedAtMs, endedAtMs }) => endedAtMs - startedAtMs));
    const figures = [`${attempts.length} connects`, `the longest ${Math.round(longest)} ms`, `${late.length} late`];
    console.log(`${on.kind}: ${figures.join(', ')}\n${command.output}`);
    await served();
  });

  it('with a candidate that cannot follow it does not begin, and no client waits', async () => {
    await healthy();
    const replica = await aReplica();
    await lab.cluster.setTags(replica.name, { nofailover: true });
    closings.push(() => lab.cluster.setTags(replica.name, {}));
    const isListed = async () => {
      const members = (await lab.cluster.clusterDocument())?.members ?? [];
      return members.some(({ name, tags }) => name === replica.name && tags?.['nofailover'] === true);
    };
    await lab.cluster.waitUntil('the tag in the list of members', isListed, PATIENCE_MS);
    const before = await holds();
    const load = await connects(20);
    const command = await start('--to', replica.name);
    expect([await command.ended(), command.output]).toEqual([1, expect.stringMatching(/nofailover/)]);
    const attempts = await load.stop();
    expect(attempts.flatMap(({ error }) => error ?? [])).toEqual([]);
    expect(await holds()).toBe(before);
    await served();
  });

  it('with a candidate that dies while sessions drain: released, and the transaction goes on', async () => {
    await healthy();
    const [leader, replica] = [await lab.cluster.leader(), await aReplica()];
    const open = await openTransaction();
    const command = await start('--to', replica.name, '--transaction-timeout', '15s');
    await reached('drain', command);
    closings.push(() => lab.cluster.start(replica.name));
    await lab.cluster.kill(replica.name);
    expect([await command.ended(), command.output]).toEqual([1, expect.stringMatching(/went down/)]);
    await open.query('commit');
    expect((await lab.cluster.leader()).name).toBe(leader.name);
    await served();
  });

  it('with a candidate that dies while the cluster switches: a primary serves again', async () => {
    await healthy();
    const replica = await aReplica();
    const load = await connects(10);
    const command = await start('--to', replica.name);
    await reached('switch', command);
    closings.push(() => lab.cluster.start(replica.name));
    await lab.cluster.kill(replica.name);
    await command.ended();
    await served();
    const attempts = await load.stop();
    expect(attempts.filter(({ connectError }) => connectError !== undefined)).toEqual([]);
  });

  it('with a primary that dies while its sessions drain: the next primary serves', async () => {
    await healthy();
    const leader = await lab.cluster.leader();
    await openTransaction();
    const command = await start('--transaction-timeout', '15s');
    await reached('drain', command);
    closings.push(() => lab.cluster.start(leader.name));
    await lab.cluster.kill(leader.name);
    // It ends with the death, or the request is sent just before: then the next primary ends it.
    expect([0, 1]).toContain(await command.ended());
    await served();
    expect((await lab.cluster.leader()).name).not.toBe(leader.name);
  });

  for (const phase of ['check', 'drain', 'switch', 'confirm'] as const) {
    it(`G22: Ctrl-C in phase ${phase} releases everybody and tells the state of the cluster`, async () => {
      await healthy();
      const load = await connects(20);
      if (phase === 'drain') await openTransaction();
      const replica = await aReplica();
      if (phase === 'check') {
        closings.push(() => lab.cluster.thawManager(replica.name));
        await lab.cluster.freezeManager(replica.name);
      }
      const command = await start('--transaction-timeout', '10s');
      await reached(phase, command);
      command.interrupt();
      const code = await command.ended();
      // A request that was sent cannot be taken back: the switchover may be faster than the signal.
      if (phase === 'switch' || phase === 'confirm') expect([0, 1]).toContain(code);
      else expect([code, command.output]).toEqual([1, expect.stringMatching(/cancelled/)]);
      expect(command.output).toMatch(/MEMBER|pg-1|leader/i);
      await served();
      const attempts = await load.stop();
      expect(attempts.flatMap(({ connectError }) => connectError ?? [])).toEqual([]);
    });
  }

  async function healthy(): Promise<void> {
    await waitForCandidates(lab);
    await served();
  }

  async function start(...args: readonly string[]): Promise<Command> {
    const admin = `127.0.0.1:${await lab.pointsman.port('admin')}`;
    const env = { POINTSMAN_ADMIN_TOKEN: ADMIN_TOKEN };
    const command = new Command(['switchover', '--admin', admin, '--yes', ...args], env);
    closings.push(() => command.stop());
    return command;
  }

  /** Or a later one: a phase may be shorter than the time between two looks. */
  async function reached(phase: Phase, command: Command): Promise<void> {
    const isReached = async (): Promise<boolean> => {
      const now = (await running())?.phase;
      return now === undefined ? /^done: /m.test(command.output) : PHASES.indexOf(now) >= PHASES.indexOf(phase);
    };
    await until(`phase ${phase}`, isReached, PATIENCE_MS);
  }

  /** Undefined: none runs. */
  async function running(): Promise<{ readonly phase: Phase } | undefined> {
    const { text } = await lab.pointsman.admin('/operations');
    return operations.parse(JSON.parse(text)).operations.find(({ state }) => state === 'running');
  }

  /** A new client writes, no operation runs, and no client waits. */
  async function served(): Promise<void> {
    const client = await connect();
    await client.query(WRITE_ROW);
    await until('an end without held clients', isQuiet, PATIENCE_MS);
  }

  async function isQuiet(): Promise<boolean> {
    return (
      (await running()) === undefined && (await lab.pointsman.metric('pointsman_held_clients{pool="write"}')) === 0
    );
  }

  async function aReplica() {
    const { name } = await lab.cluster.leader();
    const replica = lab.cluster.members().find((member) => member.name !== name);
    if (replica === undefined) throw new Error('no replica');
    return replica;
  }

  /** Clients that have waited for a primary, since the start. */
  async function holds(): Promise<number> {
    const sample = 'pointsman_hold_duration_seconds_count{pool="write"}';
    return (await lab.pointsman.metric(sample)) ?? expect.fail(`no ${sample}`);
  }

  async function connects(perSecond: number): Promise<ConnectLoad> {
    const port = await lab.pointsman.port('write');
    const load = startConnectLoad({ host: '127.0.0.1', port, ...lab.cluster.app, sql: WRITE_ROW, perSecond });
    closings.push(() => load.stop());
    return load;
  }

  function session(port: number, outOfStep: number, pauseMs: number): WorkingSession {
    const one = new WorkingSession(port, lab.cluster.app, outOfStep, pauseMs);
    closings.push(() => one.stop());
    return one;
  }

  async function openTransaction(): Promise<Client> {
    const client = await connect();
    await client.query('begin');
    await client.query(WRITE_ROW);
    return client;
  }

  async function connect(): Promise<Client> {
    const client = new Client({ host: '127.0.0.1', port: await lab.pointsman.port('write'), ...lab.cluster.app });
    client.on('error', () => undefined);
    await client.connect();
    closings.push(() => client.end().catch(() => undefined));
    return client;
  }
}

function hasServer({ server }: WorkingSession): boolean {
  return server !== undefined;
}

function isOn(port: number): (session: WorkingSession) => boolean {
  return ({ server }) => server?.endsWith(`:${port}`) === true;
}
