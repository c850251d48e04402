// The source of verifiers does not answer: the session tries again until its time is over, its client reads why, and
// sessions that need no verifier do not wait for it.
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { MovesPolicy, VerifierBatch } from '../../../../src/model/moves.ts';
import { missingForSandbox } from '../../../support/runner/sandbox-availability.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { ProxyLab } from '../../../support/labs/proxy-lab.ts';
import { unownedFaults } from '../../../support/labs/thrown-faults.ts';
import { describeUnless } from '../../../support/runner/unless-missing.ts';
import { startLoginServer } from '../../../support/sandbox/login-server.ts';
import type { LoginServer } from '../../../support/sandbox/login-server.ts';
import { LeapingClock } from '../../../support/waiting/leaping-clock.ts';
import { until } from '../../../support/waiting/until.ts';

const PATIENCE_MS = 20_000;
/** Only a leap of the clock gets there. */
const PARK_MS = 600_000;
const ROLES = { mover: 'secret', trusted: undefined };

describeUnless(missingForSandbox, 'verifiers that cannot be read', () => {
  let login: LoginServer;
  let lab: ProxyLab;
  let clock: LeapingClock;
  let asked: number;
  const clients: Client[] = [];

  beforeAll(async () => {
    login = await startLoginServer('embedded');
    await login.run('create role trusted login', "create role mover login password 'secret'");
    await login.permit('host all trusted 127.0.0.1/32 trust', 'host all mover 127.0.0.1/32 scram-sha-256');
  }, 60_000);

  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.end().catch(() => {})));
    await lab.end();
  });

  afterAll(() => login.close());

  test('the client reads why the time is over, without an address', async () => {
    await start({ parkTimeoutMs: PARK_MS });
    const client = await connect('mover');
    const ended = new Promise<Error>((resolve) => client.once('error', resolve));
    // Between the two, its place in the queue at that moment.
    const detail = expect.stringMatching(
      /^no next server within 10 min; .*node-1: role "pm" on node-1: connect ECONNREFUSED node-1$/,
    );
    const moved = lab.proxy.move(1);
    await until('the third attempt', () => asked > 2, PATIENCE_MS);
    const why = 'node-1: role "pm" on node-1: connect ECONNREFUSED node-1';
    const failures = lab.events.filter(({ kind }) => kind === 'move_attempt_failed');
    expect(failures, 'once for each reason').toMatchObject([{ session: 1, cause: 'operator', detail: why }]);
    clock.leap(PARK_MS);
    expect(await moved).toMatchObject({ kind: 'failed', reason: 'move_timeout', detail });
    expect(await ended).toMatchObject({ code: '57P01', detail });
  });

  test('sessions that try again and again leave their turns to the others', async () => {
    await start({ perSecond: 20 });
    const failing = await Promise.all(Array.from({ length: 10 }, () => connect('mover')));
    const other = await connect('trusted');
    await other.query("set work_mem = '7MB'");
    const moves = failing.map((_, at) => lab.proxy.move(at + 1));
    await until('the second attempts', () => asked > 2 * failing.length, PATIENCE_MS);
    const id = failing.length + 1;
    const moved = lab.proxy.move(id);
    await until('the park', () => lab.events.some((event) => event.kind === 'session_parked' && event.session === id));
    const before = asked;
    const isParked = async (): Promise<boolean> =>
      (await lab.proxy.sessions({ id, limit: 1 })).sessions[0]?.state === 'parked';
    await until('its turn', async () => !(await isParked()));
    expect(asked - before).toBeLessThan(failing.length);
    expect(await moved).toMatchObject({ kind: 'moved' });
    expect((await other.query('show work_mem')).rows).toEqual([{ work_mem: '7MB' }]);
    for (const client of failing) void client.end().catch(() => {});
    await Promise.all(moves);
  });

  test('a lookup with a fault of ours ends its session, and no other', async () => {
    await start({}, () => Promise.reject(new Error('a fault of the test')));
    const unowned = unownedFaults();
    await connect('mover');
    const other = await connect('trusted');
    expect(await lab.proxy.move(1)).toMatchObject({ kind: 'failed', reason: 'internal_error' });
    expect(lab.closed()).toMatchObject([
      { session: 1, reason: 'internal_error', detail: expect.stringContaining('a fault of the test') },
    ]);
    expect(unowned).toEqual([]);
    expect(await lab.proxy.move(2)).toMatchObject({ kind: 'moved' });
    expect((await other.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  });

  async function start(moves: Partial<MovesPolicy>, find?: VerifierBatch['find']): Promise<void> {
    asked = 0;
    clock = new LeapingClock();
    const { name, host, port } = login.server;
    lab = await startProxyLab({
      clock,
      moves: { verifiers: { kind: 'file', file: 'none' }, ...moves },
      openVerifiers: (_, { host: at, port: atPort }) => ({
        find(role) {
          if (find !== undefined) return find(role);
          asked += 1;
          const why = `role "pm" on ${at}:${atPort}: connect ECONNREFUSED ${at}:${atPort}`;
          return Promise.resolve({ kind: 'failed', why });
        },
        forget() {},
        end() {},
      }),
      table: { write: { open: { [name]: { host, port } } } },
    });
  }

  async function connect(user: keyof typeof ROLES): Promise<Client> {
    const client = new Client({ ...lab.address('write'), user, password: ROLES[user], database: 'postgres' });
    client.on('error', () => {});
    clients.push(client);
    await client.connect();
    await client.query('select');
    return client;
  }
});
