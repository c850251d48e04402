// Sessions that move: a switchover ends none of them. Idle ones, busy ones and pgbench go on with the next primary,
// with their state; each acknowledged row is stored once. Open transactions read 40001, and their sessions go on. A
// session that cannot move ends as without moves, and a switchover that does not happen leaves everybody where they
// were.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { afterAll, afterEach, expect, it } from 'vitest';
import { runTool, whyNoTool } from '../support/applications/client-tools.ts';
import { HeldSession } from '../support/applications/held-session.ts';
import { CREATE_KEYS, startUniqueWriters } from '../support/applications/unique-writers.ts';
import { waitForCandidates } from '../support/clusters/candidates.ts';
import { describeOnEveryCluster, ENCRYPTED_ON_PATRONI } from '../support/clusters/describe-on-clusters.ts';
import type { Lab } from '../support/clusters/describe-on-clusters.ts';
import { SERVER_NAME, serverName } from '../support/clusters/server-name.ts';
import { userlist } from '../support/clusters/userlist.ts';
import { lostSessions } from '../support/moves/expect-kept.ts';
import type { MemberAddress } from '../support/patroni/member.ts';
import { Command } from '../support/processes/command.ts';
import { until } from '../support/waiting/until.ts';
import { ADMIN_TOKEN } from '../support/values/canaries.ts';

const PATIENCE_MS = 40_000;
const IDLE = 20;
const WRITERS = 6;
const PROTOCOLS = ['simple', 'extended', 'prepared'];
const CREATE = `${CREATE_KEYS}; create table benched (protocol text, at timestamptz default clock_timestamp())`;
const STATE = `select current_setting('app.tenant') as tenant, current_setting('work_mem') as memory,
  ${SERVER_NAME} as server`;

interface State {
  readonly tenant: string;
  readonly memory: string;
  readonly server: string;
}

const planDocument = z.looseObject({
  moves: z.looseObject({ movable: z.number(), stays: z.record(z.string(), z.number()), unknown: z.number() }),
});
const operationDocument = z.looseObject({
  id: z.string(),
  state: z.string(),
  phase: z.string(),
  outcome: z.string().nullable(),
  sessions: z.looseObject({
    parked: z.number(),
    aborted: z.number(),
    moved: z.number(),
    move_failed: z.number(),
    ended: z.number(),
  }),
});

describeOnEveryCluster('sessions that move, with 1 process', (on) => scenarios(on, 1));
describeOnEveryCluster({ name: 'sessions that move, with 2 workers', legs: ENCRYPTED_ON_PATRONI }, (on) =>
  scenarios(on, 2),
);

function scenarios(on: Lab, workers: number): void {
  let directory = '';
  const closings: (() => Promise<unknown>)[] = [];
  const lab = on.clusterWithPointsman({
    sql: CREATE,
    pointsman: async (cluster) => {
      directory = await mkdtemp(join(tmpdir(), 'pointsman-test-'));
      const verifiers = { file: await userlist(cluster, directory) };
      return {
        workers,
        admin: { address: '127.0.0.1:0', token: ADMIN_TOKEN },
        hold: { before_switchover: '8s', client_timeout: '120s', outage_timeout: '150s' },
        moves: {
          roles: [cluster.app.user],
          settings: ['app.tenant'],
          verifiers,
          park_timeout: '120s',
          on_stays: 'abort',
        },
      };
    },
  });
  afterEach(async () => {
    for (const close of closings.splice(0)) await close();
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  it('G24: a switchover fails nothing: sessions go on with the next primary, with their state', async () => {
    await waitForCandidates(lab);
    const port = await lab.pointsman.port('write');
    const old = await lab.cluster.leader();
    const idle = await openIdle(IDLE);
    const listener = await open();
    await listener.client.query('listen news');
    await preflight((moves) => moves.movable >= IDLE && moves.stays['listening'] === 1);
    const writers = startUniqueWriters(WRITERS, port, lab.cluster.app, 5);
    const benches = PROTOCOLS.map((protocol) => bench(protocol));
    const [waiting, working] = [await openIdleOne(0), await openIdleOne(1)];
    for (const { client } of [waiting, working]) {
      await client.query('begin; insert into keys select pg_backend_pid()');
    }
    const work = working.client.query('select pg_sleep(600)').catch((error: unknown) => error);
    await until('writes', () => writers.acknowledged.length > 50, PATIENCE_MS);

    const command = await start();
    expect([await command.ended(), command.output]).toEqual([0, expect.stringMatching(/sessions moved/)]);
    const next = await lab.cluster.leader();
    expect(next.name).not.toBe(old.name);
    for (const [index, session] of idle.entries()) {
      expect(await stateOf(session)).toEqual({ ...stateNumber(index), server: serverName(next) });
    }
    const operation = await newest();
    const { parked, moved } = operation.sessions;
    expect(operation.sessions, lostSessions(lab.pointsman)).toMatchObject({ move_failed: 0, aborted: 2 });
    // A client whose transaction was rolled back is not waited for.
    expect(moved, lostSessions(lab.pointsman)).toBeGreaterThanOrEqual(parked - 2);
    expect(await work).toMatchObject({ code: '40001' });
    await expect(waiting.client.query('commit')).rejects.toMatchObject({ code: '40001' });
    await expect(working.client.query('select 1')).rejects.toMatchObject({ code: '25P02' });
    expect((await working.client.query('rollback')).command).toBe('ROLLBACK');
    for (const [index, session] of [waiting, working].entries()) {
      expect(await stateOf(session)).toEqual({ ...stateNumber(index), server: serverName(next) });
    }
    expect(moved, lostSessions(lab.pointsman)).toBeGreaterThanOrEqual(IDLE);
    await until('the end of the listener', () => listener.endedAtMs !== undefined, PATIENCE_MS);
    expect(listener.endedWith).toContain('evicted_switchover');

    const before = writers.acknowledged.length;
    await until('writes on the next primary', () => writers.acknowledged.length > before + 50, PATIENCE_MS);
    await writers.stop();
    expect(writers.errors, lostSessions(lab.pointsman)).toEqual([]);
    const stored = await lab.cluster.sql(next.name, 'select key from keys');
    expect(stored.map(({ key }) => String(key)).toSorted()).toEqual(
      writers.acknowledged.map(({ key }) => key).toSorted(),
    );
    for (const { protocol, acknowledged } of await Promise.all(benches)) {
      const [row] = await lab.cluster.sql(next.name, `select count(*) from benched where protocol = '${protocol}'`);
      expect([protocol, Number(row?.['count'])]).toEqual([protocol, acknowledged]);
    }
  });

  it('a switchover that is cancelled leaves every session where it was', async () => {
    await waitForCandidates(lab);
    const leader = await lab.cluster.leader();
    const idle = await openIdle(5);
    const busy = await open();
    await busy.client.query('begin');
    await busy.client.query("insert into keys values ('of the open transaction')");
    // It must not be over before the cancel.
    const id = operationDocument.parse(await send('/switchover', { transaction_timeout_ms: 60_000 })).id;
    const isParked = async (): Promise<boolean> => (await newest()).sessions.parked >= idle.length;
    await until('parked sessions', isParked, PATIENCE_MS);
    const waiting = idle.map(stateOf);
    await send(`/operations/${id}/cancel`, {});
    for (const [index, state] of (await Promise.all(waiting)).entries()) {
      expect(state).toEqual({ ...stateNumber(index), server: serverName(leader) });
    }
    await busy.client.query('commit');
    await until('the end', async () => (await newest()).state === 'ended', PATIENCE_MS);
    const { outcome, sessions } = await newest();
    const counts = [outcome, sessions.moved, sessions.move_failed];
    expect(counts, lostSessions(lab.pointsman)).toEqual(['cancelled', sessions.parked, 0]);
    expectOpen([...idle, busy]);
  });

  it('a switchover that the cluster has scheduled moves them, too', async () => {
    await waitForCandidates(lab);
    const old = await lab.cluster.leader();
    const idle = await openIdle(5);
    const busy = await open();
    await busy.client.query('begin');
    await busy.client.query("insert into keys values ('before the schedule')");
    // The transaction has almost all of this time.
    await schedule(old, Date.now() + 9_000);
    await send('/refresh', {});
    const isDue = async (): Promise<boolean> =>
      Number(await lab.pointsman.metric('pointsman_sessions_parked{pool="write"}')) >= idle.length;
    await until('parked sessions', isDue, PATIENCE_MS);
    await busy.client.query('commit');
    const states = await Promise.all(idle.map(stateOf));
    const next = await lab.cluster.leader();
    expect(next.name).not.toBe(old.name);
    for (const [index, state] of states.entries()) {
      expect(state).toEqual({ ...stateNumber(index), server: serverName(next) });
    }
    const { rows } = await busy.client.query("select key from keys where key = 'before the schedule'");
    expect(rows.length).toBe(1);
    expectOpen([...idle, busy]);
  });

  async function open(): Promise<HeldSession> {
    const session = await HeldSession.open(await lab.pointsman.port('write'), lab.cluster.app);
    closings.push(() => session.close());
    return session;
  }

  function openIdle(count: number): Promise<HeldSession[]> {
    return Promise.all(Array.from({ length: count }, (_, index) => openIdleOne(index)));
  }

  async function openIdleOne(index: number): Promise<HeldSession> {
    const session = await open();
    const { tenant, memory } = stateNumber(index);
    await session.client.query(`set work_mem = '${memory}'; set app.tenant = '${tenant}'`);
    await stateOf(session);
    return session;
  }

  /** By a named statement, which its driver prepares once. */
  async function stateOf({ client }: HeldSession): Promise<State | undefined> {
    try {
      const { rows } = await client.query<State>({ name: 'state', text: STATE });
      return rows[0];
    } catch (cause) {
      throw new Error(`${String(cause)}\n${lostSessions(lab.pointsman)}`, { cause });
    }
  }

  function expectOpen(sessions: readonly HeldSession[]): void {
    const ended = sessions.filter(({ endedAtMs }) => endedAtMs !== undefined).map(({ endedWith }) => endedWith);
    expect(ended, lostSessions(lab.pointsman)).toEqual([]);
  }

  async function start(): Promise<Command> {
    const admin = `127.0.0.1:${await lab.pointsman.port('admin')}`;
    const command = new Command(['switchover', '--admin', admin, '--yes', '--transaction-timeout', '3s'], {
      POINTSMAN_ADMIN_TOKEN: ADMIN_TOKEN,
    });
    closings.push(() => command.stop());
    return command;
  }

  /** Its transactions, as it counts them. It fails with the first error. */
  async function bench(protocol: string): Promise<{ protocol: string; acknowledged: number }> {
    if (whyNoTool('pgbench') !== undefined) return { protocol, acknowledged: 0 };
    const script = join(directory, `${protocol}.sql`);
    await writeFile(script, `insert into benched (protocol) values ('${protocol}');\n`);
    const to = { port: await lab.pointsman.port('write'), as: lab.cluster.app };
    const output = await runTool('pgbench', to, ['-n', '-c', '2', '-T', '15', '-M', protocol, '-f', script]);
    return { protocol, acknowledged: Number(/transactions actually processed: (\d+)/.exec(output)?.[1]) };
  }

  async function preflight(isWanted: (moves: z.output<typeof planDocument>['moves']) => boolean): Promise<void> {
    const read = async (): Promise<boolean> => {
      const { text } = await lab.pointsman.admin('/switchover');
      return isWanted(planDocument.parse(JSON.parse(text)).moves);
    };
    await lab.pointsman.waitFor('the preflight', read, PATIENCE_MS);
  }

  async function newest(): Promise<z.output<typeof operationDocument>> {
    const { text } = await lab.pointsman.admin('/operations');
    const [first] = z.object({ operations: z.array(operationDocument) }).parse(JSON.parse(text)).operations;
    return first ?? expect.fail('there is no operation');
  }

  async function send(path: string, body: object): Promise<unknown> {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' };
    const url = `http://127.0.0.1:${await lab.pointsman.port('admin')}${path}`;
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
    expect(response.ok, path).toBe(true);
    return response.json();
  }
}

async function schedule(leader: MemberAddress, atMs: number): Promise<void> {
  const body = JSON.stringify({ leader: leader.name, scheduled_at: new Date(atMs).toISOString() });
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${leader.api}/switchover`, { method: 'POST', headers, body });
  expect([response.status, await response.text()]).toEqual([202, expect.any(String)]);
}

function stateNumber(index: number): Pick<State, 'tenant' | 'memory'> {
  return { tenant: `tenant-${index}`, memory: `${index + 1}MB` };
}
