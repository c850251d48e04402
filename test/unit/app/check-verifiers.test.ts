// The verifiers before a switchover: a source that cannot be read, and roles that it does not have, cost sessions.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { verifierFaults } from '../../../src/app/check-verifiers.ts';
import { configOf, load } from '../../support/values/loading.ts';
import { ManualClock } from '../../support/waiting/manual-clock.ts';

const PRIMARY = { member: 'pg-1', address: { host: '127.0.0.1', port: 5432 } };

let directory: string;
let file: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pointsman-test-'));
  file = join(directory, 'userlist.txt');
});
afterEach(() => rm(directory, { recursive: true }));

function faults(roles: string): Promise<readonly string[]> {
  const text = `moves: { roles: [${roles}], verifiers: { file: ${file} }, park_timeout: 20s }`;
  return verifierFaults(configOf(load(text)), PRIMARY, new ManualClock());
}

test('none, where each role has its verifier', async () => {
  await writeFile(file, '"app" "SCRAM-SHA-256$4096:c2FsdA==$c3RvcmVk:c2VydmVy"\n');
  expect(await faults("app, 'svc_*'")).toEqual([]);
});

test('a role without one', async () => {
  await writeFile(file, '"other" "SCRAM-SHA-256$4096:c2FsdA==$c3RvcmVk:c2VydmVy"\n');
  expect(await faults('app')).toEqual([
    `sessions of role app that log in with a password will end: ${file} has no line for role "app"`,
  ]);
});

test('a source that cannot be read', async () => {
  expect(await faults('app, web')).toEqual([
    'sessions that log in with a password will wait for 20 s (moves.park_timeout) and then end, because verifiers ' +
      `cannot be read: ${file} cannot be read: there is no such file`,
  ]);
});
