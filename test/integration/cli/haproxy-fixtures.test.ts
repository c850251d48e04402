// Configurations of HAProxy in usual forms: HAProxy accepts them, and `init` makes of them what they say.
import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { expect, test } from 'vitest';
import { findHaproxy } from '../../bench/failover/haproxy.ts';
import { fromHaproxy } from '../../../src/cli/init/from-haproxy.ts';
import { writeDraft } from '../../../src/cli/init/write-draft.ts';
import { itUnless } from '../../support/runner/unless-missing.ts';

const FOLDER = new URL('../../fixtures/haproxy/', import.meta.url).pathname;
const FILES = globSync('*.cfg', { cwd: FOLDER }).map((name) => `${FOLDER}${name}`);
const GUIDE = new URL('../../../deploy/migration/haproxy.cfg', import.meta.url).pathname;
const MISSING = findHaproxy() === undefined ? 'HAProxy: apt-get install haproxy' : undefined;

function convert(name: string): { readonly yaml: string; readonly notes: readonly string[] } {
  const text = readFileSync(`${FOLDER}${name}`, 'utf8');
  const result = fromHaproxy({ text, name, env: {}, apiPort: 8008 });
  if (result.kind === 'unusable') throw new Error(result.problems.join('\n'));
  const written = writeDraft(result.draft.settings, '');
  if (written.kind === 'invalid') throw new Error(written.problems.join('\n'));
  return { yaml: written.text, notes: result.draft.notes.map(({ place, text: said }) => `${place}: ${said}`) };
}

for (const file of [...FILES, GUIDE]) {
  itUnless(MISSING, `HAProxy accepts ${basename(file)}`, async () => {
    const said = await new Promise<string>((resolve) => {
      execFile(findHaproxy() ?? '', ['-c', '-f', file], (error, out, err) => resolve(error === null ? out : err));
    });
    expect(said).toContain('Configuration file is valid');
  });
}

test('frontends with backends', () => {
  const { yaml, notes } = convert('frontends.cfg');
  expect(yaml).toBe(`cluster:
  seeds:
    - http://patroni:8008 # frontends.cfg:46 pg
    - http://192.0.2.11:8008 # frontends.cfg:52 pg-1
    - http://192.0.2.12:8008 # frontends.cfg:53 pg-2
pools:
  read:
    check: /replica?lag=100MB # frontends.cfg:50
    fallback: none # as HAProxy; without this line: the primary
  pg_sync:
    check: /sync # frontends.cfg:57
    balance: round_robin # the default of HAProxy
listeners:
  - { address: "*:5000", pool: write } # frontends.cfg:31
  - { address: "*:5001", pool: read } # frontends.cfg:36
client:
  max_sessions: 4000 # frontends.cfg:4 maxconn
backend:
  connect_timeout: 5s # frontends.cfg:17
`);
  expect(notes).toContain('frontends.cfg:54: server pg-3 is not used as a seed: it is disabled');
  expect(
    notes.filter((note) => /^frontends\.cfg:(?:37: acl|38: tcp-request|39: use_backend pg_sync)/.test(note)),
  ).toHaveLength(3);
});

test('a listen section for each role', () => {
  const { yaml, notes } = convert('listens.cfg');
  expect(yaml).toBe(`cluster:
  seeds:
    - https://192.0.2.21:8008 # listens.cfg:23 db01
    - https://192.0.2.22:8008 # listens.cfg:24 db02
  api:
    tls:
      insecure: true # listens.cfg:23 verify none
pools:
  read:
    balance: round_robin # listens.cfg:31
    fallback: none # as HAProxy; without this line: the primary
  replicas_async:
    check: /async?lag=16MB # listens.cfg:39
    balance: client_address # listens.cfg:40
    fallback: # listens.cfg:39
      pool: write
listeners:
  - { address: 127.0.0.1:5000, pool: write } # listens.cfg:17
  - { address: 127.0.0.1:5001, pool: read } # listens.cfg:27
  - { address: "[::1]:5003", pool: replicas_async } # listens.cfg:38
client:
  max_sessions: 100000 # listens.cfg:3 maxconn
backend:
  connect_timeout: 500ms # listens.cfg:11
`);
  expect(notes.filter((note) => note.startsWith('listens.cfg:23: the servers have another port'))).toHaveLength(1);
});
