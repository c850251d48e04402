import { expect, test } from 'vitest';
import { banner } from '../../../../src/sandbox/console/banner.ts';
import type { BannerFacts } from '../../../../src/sandbox/console/banner.ts';

const FACTS: BannerFacts = {
  members: [
    { name: 'pg-1', host: '127.0.0.1', port: 21001, api: 'http://127.0.0.1:22001' },
    { name: 'pg-2', host: '127.0.0.1', port: 21002, api: 'http://127.0.0.1:22002' },
  ],
  leader: 'pg-2',
  postgresVersion: '18.4',
  tookMs: 3140,
  write: 'postgresql://app:app@127.0.0.1:6432/app',
  read: 'postgresql://app:app@127.0.0.1:6433/app',
  admin: '127.0.0.1:8432',
  command: 'pointsman sandbox',
  program: 'pointsman',
  commandsConfig: undefined,
  hasBranches: false,
  hasMoves: false,
  hasCausalReads: false,
  platform: undefined,
  hasPsql: true,
};

test('lists the servers and their addresses, and warns that it is not for data', () => {
  const text = banner(FACTS);
  expect(text).toContain('PostgreSQL 18.4, 2 members behind Pointsman; up in 3.1 s.');
  expect(text).toContain('not for data');
  expect(text).toMatch(/pg-1 +127\.0\.0\.1:21001 +http:\/\/127\.0\.0\.1:22001$/m);
  expect(text).toMatch(/pg-2 +127\.0\.0\.1:21002 +http:\/\/127\.0\.0\.1:22002 +primary$/m);
  expect(text).toContain('http://127.0.0.1:8432/     # its operations take the token sandbox-operator');
  expect(text).toContain('curl -s http://127.0.0.1:8432/status');
  expect(text).toContain('pointsman sandbox kill primary');
  expect(text).toContain('pointsman sandbox config > second.yaml');
  expect(text).toContain('POINTSMAN_ADMIN_TOKEN=sandbox-operator pointsman switchover --admin 127.0.0.1:8432');
});

test('commands for psql if it exists, else for this program', () => {
  expect(banner(FACTS)).toContain('psql postgresql://app:app@127.0.0.1:6432/app -c "insert into visits');
  const without = banner({ ...FACTS, hasPsql: false });
  expect(without).toContain('pointsman sandbox sql "insert into visits');
  expect(without).toContain('pointsman sandbox sql --pool read "select count(*)');
  expect(without).not.toContain('psql');
});

test('with branches: how to make one and to connect to it', () => {
  expect(banner(FACTS)).not.toContain('branches');
  const text = banner({ ...FACTS, hasBranches: true, commandsConfig: '/tmp/sandbox/pointsman.yaml' });
  expect(text).toContain('pointsman branches create pr-1 -c /tmp/sandbox/pointsman.yaml');
  expect(text).toContain('psql postgresql://app:app@127.0.0.1:6432/app@pr-1 ');
});

test('with a platform: the commands, and the address that checks a request', () => {
  expect(banner(FACTS)).not.toContain('Platform');
  const platform = {
    url: 'http://127.0.0.1:23001',
    apiKeyFile: '/tmp/sandbox/platform/api-key',
    authHeader: 'x-api-key',
    betaHeader: 'sandbox-beta',
    skillsField: 'files[]',
    fileField: 'file',
    messageCheck: 'http://127.0.0.1:23001/message-check',
  };
  const text = banner({ ...FACTS, platform, commandsConfig: '/tmp/sandbox/pointsman.yaml' });
  const file = '-c /tmp/sandbox/pointsman.yaml ';
  expect(text).toContain(`pointsman skill publish deploy/skills/pointsman-runbook --create ${file}`);
  expect(text).toContain(`pointsman incidents upload latest ${file}`);
  expect(text).toContain(' http://127.0.0.1:23001/message-check ');
  expect(text).not.toContain('branches');
});

test('with causal reads: how to see that reads wait', () => {
  expect(banner(FACTS)).not.toContain('Reads');
  const text = banner({ ...FACTS, hasCausalReads: true, commandsConfig: '/tmp/sandbox/pointsman.yaml' });
  expect(text).toMatch(/^ {2}Reads +pointsman sandbox traffic {5}# /m);
  expect(text).toContain('pointsman sandbox slow replica ');
  expect(text).toContain('pointsman sessions -c /tmp/sandbox/pointsman.yaml ');
});

test('with moves: a session to leave open, and the command that takes its server away', () => {
  expect(banner(FACTS)).not.toContain('Moves');
  const facts = { ...FACTS, hasMoves: true, commandsConfig: '/tmp/sandbox/pointsman.yaml' };
  const text = banner(facts);
  expect(text).toMatch(/^ {2}Moves +psql postgresql:\/\/app:app@127\.0\.0\.1:6432\/app {5}# /m);
  expect(text).toContain('pointsman switchover -c /tmp/sandbox/pointsman.yaml ');
  expect(text).toContain('pointsman sessions -c /tmp/sandbox/pointsman.yaml ');
  const without = banner({ ...facts, hasPsql: false });
  expect(without).not.toContain('psql');
  expect(without).toContain('pointsman switchover -c /tmp/sandbox/pointsman.yaml ');
});
