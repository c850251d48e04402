// An operator looks at the live sessions and ends some, with the commands, on real servers: the client reads why, its
// locks are free, and its statement no longer runs.
import { Client } from 'pg';
import { afterEach, expect, it } from 'vitest';
import { z } from 'zod';
import { runCli } from '../../src/cli/program.ts';
import { describeOnEveryCluster } from '../support/clusters/describe-on-clusters.ts';
import { replicasOf, waitForMembers } from '../support/clusters/pool-members.ts';
import { switchOnTls } from '../support/clusters/switch-on-tls.ts';
import { cliParts } from '../support/fakes/cli-parts.ts';
import { until } from '../support/waiting/until.ts';
import { ADMIN_TOKEN } from '../support/values/canaries.ts';

const SLEEP = 'select pg_sleep(600)';
const SLEEPERS = `select count(*)::int as n from pg_stat_activity where query = '${SLEEP}' and state = 'active'`;

const listed = z.object({
  total: z.number(),
  sessions: z.array(
    z.looseObject({
      id: z.number(),
      member: z.string().nullable(),
      user: z.string().nullable(),
      application: z.string().nullable(),
      activity: z.string().nullable(),
      opaque: z.boolean(),
    }),
  ),
});
type Listed = z.infer<typeof listed>['sessions'][number];

interface PgError {
  readonly code?: string;
  readonly message: string;
  readonly hint?: string;
}

describeOnEveryCluster('sessions', (on) => {
  const lab = on.clusterWithPointsman({ pointsman: { admin: { address: '127.0.0.1:0', token: ADMIN_TOKEN } } });
  const open: Client[] = [];
  afterEach(async () => {
    await Promise.all(open.splice(0).map((client) => client.end()));
  });

  async function pointsman(...argv: readonly string[]): Promise<{ code: number; out: string; err: string }> {
    let [out, err] = ['', ''];
    const admin = `127.0.0.1:${await lab.pointsman.port('admin')}`;
    const io = {
      env: { POINTSMAN_ADMIN_TOKEN: ADMIN_TOKEN, POINTSMAN_ADMIN_ADDRESS: admin },
      stdout: (text: string) => void (out += text),
      stderr: (text: string) => void (err += text),
    };
    return { code: await runCli(argv, io, cliParts()), out, err };
  }

  async function sessionOf(application: string): Promise<Listed | undefined> {
    const { out } = await pointsman('sessions', '--json');
    return listed.parse(JSON.parse(out)).sessions.find((session) => session.application === application);
  }

  /** `errors` gets what the client reads outside of a statement. */
  async function connect(application: string, pool = 'write', more: object = {}) {
    const port = await lab.pointsman.port(pool);
    const own = { host: '127.0.0.1', port, application_name: application, ...lab.cluster.app, ...more };
    const client = new Client(own);
    const errors: PgError[] = [];
    client.on('error', (error: PgError) => errors.push(error));
    await client.connect();
    open.push(client);
    return { client, errors };
  }

  async function kill(application: string): Promise<string> {
    const session = await until('its session', () => sessionOf(application));
    const { code, out } = await pointsman('kill', String(session.id), '--yes');
    expect(code).toBe(0);
    return out;
  }

  it('an idle session: its client reads the reason', async () => {
    const { errors } = await connect('idle');
    const leader = await lab.cluster.leader();
    const session = await until('its session', () => sessionOf('idle'));
    expect(session).toMatchObject({ user: lab.cluster.app.user, member: leader.name, activity: 'idle', opaque: false });
    expect(await kill('idle')).toContain('its client was told why; no statement was running');
    await until('the error', () => errors.length > 0);
    expect(errors[0]).toMatchObject({
      code: '57P01',
      message: 'pointsman: terminating connection: an operator ended the session (killed_by_operator)',
      hint: 'No transaction was open.',
    });
    await until('its end', async () => (await sessionOf('idle')) === undefined);
  });

  it('a session that is idle in a transaction: it is rolled back, and its lock is free', async () => {
    const { client, errors } = await connect('forgotten');
    await client.query('create table locked (id int)');
    await client.query('begin; lock table locked');
    const session = await until('its session', () => sessionOf('forgotten'));
    expect(session.activity).toBe('in_transaction');
    expect(await kill('forgotten')).toContain('its client was told why');
    await until('the error', () => errors.length > 0);
    expect(errors[0]).toMatchObject({ code: '57P01', hint: 'The open transaction is rolled back.' });
    const other = await connect('other');
    await other.client.query("set statement_timeout = '10s'; insert into locked values (1)");
    await other.client.query('drop table locked');
  });

  it('a statement that runs: its client reads the reason, and the statement is cancelled', async () => {
    const { client } = await connect('sleeper');
    const error: Promise<PgError> = client.query(SLEEP).then(
      () => ({ message: 'it ended by itself' }),
      (why: PgError) => why,
    );
    const { name } = await lab.cluster.leader();
    const asleep = async (): Promise<number> => Number((await lab.cluster.sql(name, SLEEPERS))[0]?.['n']);
    await lab.cluster.waitUntil('the statement', async () => (await asleep()) === 1, 10_000);
    expect((await sessionOf('sleeper'))?.activity).toBe('busy');
    expect(await kill('sleeper')).toContain('a statement was running: its server is asked to cancel it');
    expect(await error).toMatchObject({ code: '57P01', hint: expect.stringContaining('Check whether it took effect') });
    await lab.cluster.waitUntil('the end of the statement', async () => (await asleep()) === 0, 10_000);
  });

  it('drain --wait of a replica: the command ends when no session is left on it', async () => {
    const [replica = ''] = (await replicasOf(lab.cluster)).map(({ name }) => name);
    await waitForMembers(lab, 'read', await replicasOf(lab.cluster));
    const readers = await Promise.all(['r1', 'r2', 'r3', 'r4'].map((name) => connect(name, 'read')));
    const { code, out } = await pointsman('drain', replica, '--wait', '--timeout', '60s');
    expect([code, out.split('\n').at(-2)]).toEqual([0, expect.stringContaining(`no session is left on ${replica}`)]);
    expect((await pointsman('sessions', '--member', replica)).out).toBe('no sessions\n');
    expect((await pointsman('resume', replica)).code).toBe(0);
    await waitForMembers(lab, 'read', await replicasOf(lab.cluster));
    const ended = readers.filter(({ errors }) => errors.length > 0);
    expect(ended.map(({ errors }) => errors[0]?.code)).toEqual(ended.map(() => '57P01'));
  });

  it('a session in TLS with its server: it shows no names, and is reset', async () => {
    await switchOnTls(lab.cluster);
    const { errors } = await connect('hidden', 'write', { ssl: { rejectUnauthorized: false } });
    const { out } = await pointsman('sessions', '--json');
    const [session] = listed.parse(JSON.parse(out)).sessions.filter(({ opaque }) => opaque);
    expect(session).toMatchObject({ user: null, application: null, activity: null });
    const killed = await pointsman('kill', String(session?.id), '--yes');
    expect(killed.out).toContain('its client could not be told why; the stream or its cancel key is unknown');
    await until('the reset', () => errors.length > 0);
    expect(errors[0]?.code).toBe('ECONNRESET');
  });
});
