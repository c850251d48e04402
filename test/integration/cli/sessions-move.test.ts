// `pointsman sessions move` against an admin server over real sockets: the text and the exit codes.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createAdmin } from '../../../src/admin/admin-server.ts';
import type { Admin } from '../../../src/admin/admin-server.ts';
import { runCli } from '../../../src/cli/program.ts';
import type { MoveResult } from '../../../src/reports/session-move.ts';
import { adminOptions } from '../../support/fakes/admin-options.ts';
import { cliParts } from '../../support/fakes/cli-parts.ts';

const TOKEN = '0123456789abcdef-operator';
/** By session. */
const LONG =
  'no next server within 30 s; it waited for its next attempt; pg-1: role "pointsman_lookup" on pg-1: ' +
  'password authentication failed for user "pointsman_lookup" (28P01)';
const MOVES: Readonly<Record<number, MoveResult>> = {
  1: { kind: 'moved', from: 'pg-1', to: 'pg-2', durationMs: 12 },
  2: { kind: 'stayed', reason: 'listening', detail: 'news', from: 'pg-1', durationMs: 3 },
  3: { kind: 'failed', reason: 'move_timeout', from: 'pg-1', durationMs: 30_000 },
  4: { kind: 'failed', reason: 'move_timeout', detail: LONG, from: 'pg-1', durationMs: 30_000 },
};

let admin: Admin;
let address: string;
let moved: number[];
let aborted: number[];

beforeEach(async () => {
  moved = [];
  aborted = [];
  const options = adminOptions();
  admin = createAdmin({
    ...options,
    token: () => Promise.resolve({ kind: 'token', value: TOKEN }),
    sessions: {
      ...options.sessions,
      move(session, mayAbort) {
        moved.push(session);
        if (mayAbort) aborted.push(session);
        return Promise.resolve(MOVES[session] ?? { kind: 'unknown' });
      },
    },
  });
  const listening = await admin.listen();
  if (listening.kind === 'failed') throw new Error(listening.detail);
  address = `127.0.0.1:${listening.address.port}`;
});

afterEach(() => admin.close());

async function move(...ids: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  let [out, err] = ['', ''];
  const io = {
    env: { POINTSMAN_ADMIN_TOKEN: TOKEN, POINTSMAN_ADMIN_ADDRESS: address },
    stdout: (text: string) => void (out += text),
    stderr: (text: string) => void (err += text),
  };
  return { code: await runCli(['sessions', 'move', ...ids], io, cliParts()), out, err };
}

test('says of each session how it went; exit code 1 if one did not move', async () => {
  const first = 'session 1 moved from pg-1 to pg-2 in 12 ms\n';
  expect(await move('1')).toEqual({ code: 0, out: first, err: '' });
  const { code, out, err } = await move('1', '2', '3', '99', '1');
  expect(out).toBe(`${first}session 2 stayed on pg-1: it listens (news)\nsession 3 ended: move_timeout\n`);
  expect(err).toBe('pointsman: no session 99: it has ended, or never existed\n');
  expect([code, moved, aborted]).toEqual([1, [1, 1, 2, 3, 99], []]);
});

test('--abort: transactions may be rolled back', async () => {
  expect((await move('1', '2', '--abort')).code).toBe(1);
  expect(aborted).toEqual([1, 2]);
});

test('the reason is whole: its end says what went wrong', async () => {
  expect((await move('4')).out).toBe(`session 4 ended: move_timeout (${LONG})\n`);
});

test('an id that is no number: nothing is moved', async () => {
  expect((await move('1', 'all')).code).toBe(2);
  expect(moved).toEqual([]);
});

test('the options that find Pointsman may follow the ids', async () => {
  const { code, err } = await move('1', '--admin', address);
  expect([code, err]).toEqual([0, '']);
  expect((await move('1', '-c', '/nowhere/pointsman.yaml')).err).toContain('/nowhere/pointsman.yaml');
});
