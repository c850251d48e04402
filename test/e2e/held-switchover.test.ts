// The switchover that holds clients, under load: no connect fails, and no transaction that ends within its time is
// cut.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { Client } from 'pg';
import { z } from 'zod';
import { expect, it } from 'vitest';
import { CREATE_WRITES, startConnectLoad, WRITE_ROW } from '../support/applications/connect-load.ts';
import { WorkingSession } from '../support/applications/working-session.ts';
import { waitForCandidates } from '../support/clusters/candidates.ts';
import { describeOnEveryCluster, ENCRYPTED_ON_PATRONI } from '../support/clusters/describe-on-clusters.ts';
import type { Lab } from '../support/clusters/describe-on-clusters.ts';
import { EXIT } from '../../src/cli/io.ts';
import { configFor } from '../support/processes/pointsman-config.ts';
import type { LogLine } from '../support/processes/pointsman-process.ts';
import { until } from '../support/waiting/until.ts';
import { MAIN } from '../support/processes/program.ts';
import { ADMIN_TOKEN } from '../support/values/canaries.ts';

const SETTINGS = { admin: { address: '127.0.0.1:0', token: ADMIN_TOKEN } };
const PHASES = ['check', 'hold', 'drain', 'switch', 'confirm', 'release'];
const SHUTDOWN = 'by the shutdown of Pointsman';

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

const operationDocument = z.looseObject({
  id: z.string(),
  state: z.enum(['running', 'ended']),
  phase: z.string(),
  outcome: z.string().nullable(),
  why: z.string().nullable(),
  primary: z.string().nullable(),
  phases: z.array(z.looseObject({ phase: z.string(), duration_ms: z.number().nullable() })),
});
type Operation = z.output<typeof operationDocument>;

describeOnEveryCluster('a switchover that holds clients, with 1 process', (on) => scenarios(on, 1));
describeOnEveryCluster({ name: 'a switchover that holds clients, with 2 workers', legs: ENCRYPTED_ON_PATRONI }, (on) =>
  scenarios(on, 2),
);

function scenarios(on: Lab, workers: number): void {
  const lab = on.clusterWithPointsman({
    sql: CREATE_WRITES,
    pointsman: { ...SETTINGS, workers },
  });

  it('fails no connect and cuts no short transaction', async () => {
    const { cluster, pointsman } = lab;
    await waitForCandidates(lab);
    const port = await pointsman.port('write');
    const old = await cluster.leader();
    const load = startConnectLoad({ host: '127.0.0.1', port, ...cluster.app, sql: WRITE_ROW, perSecond: 10 });
    const sessions = Array.from({ length: 8 }, (_, index) => new WorkingSession(port, cluster.app, index / 8));
    await until('the load', () => load.attempts.length > 10 && sessions.every(({ server }) => server !== undefined));

    const { code, out, err } = await command(['--yes']).ended;
    expect(code, `${out}${err}`).toBe(EXIT.ok);
    for (const phase of PHASES) expect(out).toMatch(new RegExp(`^${phase} +[0-9.]+ (ms|s)`, 'm'));
    expect(out).toMatch(
      /^done: pg-\d is the primary; \d+ clients? held .*, \d+ sessions? ended, 0 cut, no primary for /m,
    );
    const ended = await newest();
    expect(ended).toMatchObject({ outcome: 'done', sessions: { cut: 0, lost: 0, not_served: 0 } });
    expect(ended.phases.map(({ phase }) => phase)).toEqual(PHASES);
    const next = await cluster.leader();
    expect(next.name).not.toBe(old.name);
    expect(ended.primary).toBe(next.name);
    await until('sessions on the next primary', () => sessions.every(({ server }) => server?.endsWith(`${next.port}`)));

    const attempts = await load.stop();
    await Promise.all(sessions.map((session) => session.stop()));
    const failures = attempts.flatMap(({ connectError }) => connectError ?? []);
    expect(failures, `${failures[0]}\n${out}`).toEqual([]);
    const ends = sessions.flatMap((session) => session.ends);
    expect(ends.filter(({ inTransaction }) => inTransaction)).toEqual([]);
    expect(ends.length).toBeGreaterThanOrEqual(sessions.length);
    expect(sessions.flatMap(({ failedConnects }) => failedConnects)).toEqual([]);
  });

  it('does not begin with a candidate that cannot follow', async () => {
    const { cluster } = lab;
    await waitForCandidates(lab);
    const { name } = await cluster.leader();
    const ended = await finished(await started({ to: name }));
    expect(ended).toMatchObject({ outcome: 'refused', why: `${name} is the primary already` });
    expect(ended.phases.map(({ phase }) => phase)).toEqual(['check', 'release']);
  });

  it('G22: cancelled in drain, it releases everybody, and the open transaction goes on', async () => {
    const { cluster, pointsman } = lab;
    await waitForCandidates(lab);
    const { name } = await cluster.leader();
    const port = await pointsman.port('write');
    const busy = await connect(port);
    await busy.query('begin');
    await busy.query(WRITE_ROW);
    const { id } = await started({ transaction_timeout_ms: 15_000 });
    await reached(id, 'drain');
    const waiting = connect(port);
    await until('a held client', async () => (await operation(id))['sessions'] !== undefined && (await held()) === 1);
    expect(await request('POST', '/switchover', {})).toMatchObject({ status: 409, body: { operation: { id } } });

    expect(await request('POST', `/operations/${id}/cancel`, {})).toMatchObject({ status: 202 });
    const client = await waiting;
    await client.query('select 1');
    const ended = await finished({ id });
    expect(ended).toMatchObject({ outcome: 'cancelled', primary: name, cluster: { leader: name } });
    await busy.query('commit');
    for (const one of [client, busy]) await one.end();
  });

  it('G22: Ctrl-C in drain releases everybody, and shows the state of the cluster', async () => {
    const { cluster, pointsman } = lab;
    await waitForCandidates(lab);
    const { name } = await cluster.leader();
    const busy = await connect(await pointsman.port('write'));
    await busy.query('begin');
    await busy.query(WRITE_ROW);
    const { ended, interrupt } = command(['--yes', '--transaction-timeout', '15s']);
    const { id } = await until('an operation in drain', async () => {
      const known = await newest();
      return known.state === 'running' && known.phase === 'drain' && known;
    });
    interrupt();
    const { code, out, err } = await ended;
    // A plan that takes half a second says so first.
    const told = err.replace(/^asking the cluster.*\n/, '');
    expect([code, told]).toEqual([EXIT.failure, 'pointsman: cancelling: all clients are released\n']);
    expect(out).toContain(`cancelled: by the operator;`);
    expect(out).toContain(`${name} takes clients of the primary now.`);
    expect(await operation(id)).toMatchObject({ state: 'ended', outcome: 'cancelled' });
    await busy.query('commit');
    await busy.end();
  });

  it('G22: a reload in drain cancels it, and so does the end of Pointsman', async () => {
    const { cluster, pointsman } = lab;
    await waitForCandidates(lab);
    const port = await pointsman.port('write');
    const busy = await connect(port);
    await busy.query('begin');
    await busy.query(WRITE_ROW);
    const { id } = await started({ transaction_timeout_ms: 15_000 });
    await reached(id, 'drain');
    await pointsman.configure(configFor(cluster, { ...SETTINGS, workers, probe: { interval: '1200ms' } }));
    pointsman.signal('SIGHUP');
    expect(await finished({ id })).toMatchObject({ why: 'by a reload of the configuration' });

    await reached((await started({ transaction_timeout_ms: 15_000 })).id, 'drain');
    pointsman.signal('SIGTERM');
    await until('the end in the log', () => pointsman.lines.filter(isEnd).at(-1)?.['why'] === SHUTDOWN);
    await busy.query('commit');
    expect(await pointsman.exited()).toBe(0);
    await busy.end().catch(() => undefined);
  });

  async function newest(): Promise<Operation> {
    const { body } = await request('GET', '/operations');
    const [first] = z.object({ operations: z.array(operationDocument) }).parse(body).operations;
    return first ?? expect.fail('there is no operation');
  }

  /** The command, as a process of its own. */
  function command(args: readonly string[]): { readonly ended: Promise<Ended>; readonly interrupt: () => void } {
    let child: ChildProcess | undefined;
    const run = async (): Promise<Ended> => {
      const admin = `127.0.0.1:${await lab.pointsman.port('admin')}`;
      const { NODE_COMPILE_CACHE } = process.env;
      const env = { NODE_COMPILE_CACHE, POINTSMAN_ADMIN_TOKEN: ADMIN_TOKEN };
      const argv = [MAIN, 'switchover', '--admin', admin, ...args];
      const running = spawn(process.execPath, argv, { env, stdio: ['ignore', 'pipe', 'pipe'] });
      child = running;
      let [out, err] = ['', ''];
      running.stdout.on('data', (chunk: Buffer) => void (out += chunk.toString()));
      running.stderr.on('data', (chunk: Buffer) => void (err += chunk.toString()));
      const code = await new Promise<number | null>((resolve) => void running.once('close', resolve));
      return { code, out, err };
    };
    return { ended: run(), interrupt: () => child?.kill('SIGINT') };
  }

  async function held(): Promise<number | undefined> {
    return lab.pointsman.metric('pointsman_held_clients{pool="write"}');
  }

  async function started(body: object): Promise<Pick<Operation, 'id'>> {
    const answer = await request('POST', '/switchover', body);
    expect(answer).toMatchObject({ status: 202 });
    return operationDocument.parse(answer.body);
  }

  async function operation(id: string): Promise<Operation> {
    return operationDocument.parse((await request('GET', `/operations/${id}`)).body);
  }

  async function reached(id: string, phase: string): Promise<void> {
    await until(`phase ${phase}`, async () => (await operation(id)).phase === phase);
  }

  async function finished({ id }: Pick<Operation, 'id'>): Promise<Operation> {
    return lab.pointsman.waitFor('the end of the switchover', async () => {
      const known = await operation(id);
      return known.state === 'ended' ? known : undefined;
    });
  }

  async function request(method: string, path: string, body?: object): Promise<{ status: number; body: unknown }> {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' };
    const url = `http://127.0.0.1:${await lab.pointsman.port('admin')}${path}`;
    const response = await fetch(url, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: await response.json() };
  }

  async function connect(port: number): Promise<Client> {
    const client = new Client({ host: '127.0.0.1', port, ...lab.cluster.app });
    client.on('error', () => undefined);
    await client.connect();
    return client;
  }
}

function isEnd(line: LogLine): boolean {
  return line['event'] === 'operation_ended';
}
