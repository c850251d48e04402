// The moves of a session at a real PostgreSQL, as an operator sees them: its entry in the list, and its events.
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { missingForSandbox } from '../../../support/runner/sandbox-availability.ts';
import { startProxyLab } from '../../../support/labs/proxy-lab.ts';
import type { ProxyLab } from '../../../support/labs/proxy-lab.ts';
import { startLoginServer } from '../../../support/sandbox/login-server.ts';
import type { LoginServer } from '../../../support/sandbox/login-server.ts';
import { describeUnless } from '../../../support/runner/unless-missing.ts';
import type { SessionEntry } from '../../../../src/reports/session-list.ts';

describeUnless(missingForSandbox, 'the moves of a session, shown', () => {
  let login: LoginServer;
  let lab: ProxyLab;
  let client: Client;

  beforeAll(async () => {
    login = await startLoginServer('embedded');
    await login.run('create role mover login');
    await login.permit('host all mover 127.0.0.1/32 trust');
  }, 60_000);

  afterEach(async () => {
    await client.end().catch(() => {});
    lab.proxy.close();
  });

  afterAll(() => login.close());

  async function connect(): Promise<void> {
    const { name, host, port } = login.server;
    lab = await startProxyLab({ moves: {}, table: { write: { open: { [name]: { host, port } } } } });
    client = new Client({ ...lab.address('write'), user: 'mover', database: 'postgres' });
    await client.connect();
  }

  async function entry(): Promise<SessionEntry | undefined> {
    return (await lab.proxy.sessions({ id: 1, limit: 1 })).sessions[0];
  }

  const told = () => lab.events.filter(({ kind }) => /^session_(?:asked|parked|moved|stayed)$/.test(kind));

  test('a move: asked, parked, moved, and in the list with its gap', async () => {
    await connect();
    expect((await entry())?.moves).toEqual({ moved: 0 });
    await lab.proxy.move(1);
    const about = { pool: 'write', session: 1 };
    expect(told()).toMatchObject([
      { kind: 'session_asked', ...about, member: 'node-1', result: 'movable' },
      { kind: 'session_parked', ...about, member: 'node-1', cause: 'operator' },
      { kind: 'session_moved', ...about, from: 'node-1', to: 'node-1', cause: 'operator', wasWaiting: false },
    ]);
    expect(await entry()).toMatchObject({
      state: 'relaying',
      member: 'node-1',
      heldMs: 0,
      moves: {
        moved: 1,
        last: { from: 'node-1', to: 'node-1', cause: 'operator', gapMs: expect.any(Number) },
        found: { movability: { kind: 'movable' } },
      },
    });
  });

  test('a session that listens stays, and its entry says why', async () => {
    await connect();
    await client.query('listen jobs');
    expect(await lab.proxy.move(1)).toMatchObject({ kind: 'stayed', reason: 'listening' });
    expect(told()).toMatchObject([
      { kind: 'session_asked', result: 'pinned' },
      { kind: 'session_stayed', member: 'node-1', cause: 'operator', reason: 'listening', detail: 'jobs' },
    ]);
    const pinned = { kind: 'pinned', reason: 'listening', detail: 'jobs' };
    expect((await entry())?.moves).toMatchObject({ moved: 0, found: { movability: pinned } });
    client.on('error', () => {});
    await lab.proxy.kill(1);
    expect(await entry()).toMatchObject({ state: 'closing', moves: { found: { movability: pinned } } });
  });
});
