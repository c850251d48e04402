import { expect, test } from 'vitest';
import {
  OWNED_PARAMETERS,
  ownedArguments,
  parametersText,
  upstreamText,
  hbaText,
} from '../../../../src/sandbox/postgres/settings-files.ts';

test('values are quoted for the configuration file', () => {
  expect(parametersText({ work_mem: '4MB', search_path: `"$user", 'it''s', C:\\x` })).toBe(
    `work_mem = '4MB'\nsearch_path = '"$user", ''it''''s'', C:\\\\x'\n`,
  );
  expect(parametersText({ log_line_prefix: 'a\nb' })).toBe("log_line_prefix = 'a\\nb'\n");
});

test('parameters of the sandbox and invalid names are left out', () => {
  const owned = Object.fromEntries(OWNED_PARAMETERS.map((name) => [name.toUpperCase(), '1']));
  expect(parametersText({ ...owned, 'x = 1\ninclude': 'y', '': '1', 'my.option': '2' })).toBe("my.option = '2'\n");
});

test('primary_conninfo, empty for a standby without an upstream', () => {
  const superuser = { user: 'postgres', password: "it's" };
  expect(upstreamText(undefined, superuser)).toBe("primary_conninfo = ''\n");
  // Quoted twice: for the connection string, then for the file.
  expect(upstreamText({ host: '127.0.0.1', port: 20_001 }, superuser)).toContain(
    "host=''127.0.0.1'' port=''20001'' user=''postgres'' password=''it\\\\''s''",
  );
});

test('a delay of replay, and a server that nothing streams from', () => {
  const superuser = { user: 'postgres', password: 'x' };
  expect(upstreamText(undefined, superuser, 500)).toContain("recovery_min_apply_delay = '500ms'");
  expect(hbaText(true, false).split('\n')[0]).toBe('host replication all 127.0.0.1/32 reject');
  expect(hbaText(false, false)).not.toContain('reject');
});

test('with TLS nobody connects without it, and a standby verifies its upstream', () => {
  const superuser = { user: 'postgres', password: 'x', authority: { file: '/d/ca.crt', cert: '' } };
  for (const line of hbaText(true, true).trimEnd().split('\n')) expect(line).toMatch(/^hostssl /);
  expect(upstreamText({ host: '127.0.0.1', port: 1 }, superuser)).toContain(
    "sslmode=''verify-ca'' sslrootcert=''/d/ca.crt''",
  );
});

test('every argument of the command line belongs to the sandbox', () => {
  const names = ownedArguments('/d', 'node-1', '127.0.0.1', 20_001)
    .filter((argument) => argument.includes('='))
    .map((argument) => argument.split('=')[0]);
  expect(names.length).toBeGreaterThan(5);
  expect(OWNED_PARAMETERS).toEqual(expect.arrayContaining(names));
});
