import { expect, test } from 'vitest';
import { explain, makeUsable, parseVersion } from '../../../../src/sandbox/postgres/usable-binaries.ts';

const BIN = { postgres: '/x/bin/postgres', initdb: '/x/bin/initdb', pg_ctl: '/x/bin/pg_ctl' };

test('the version as PostgreSQL writes it', () => {
  expect(parseVersion('postgres (PostgreSQL) 18.4')).toBe('18.4');
  expect(parseVersion('postgres (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)')).toBe('15.14');
  expect(parseVersion('postgres (PostgreSQL) 19beta1')).toBe('19beta1');
  expect(parseVersion('usage: postgres')).toBeUndefined();
});

test('the reason why programs do not run, and the remedy', () => {
  expect(explain(BIN, { code: 'ENOENT', output: 'spawn ENOENT' })).toMatch(/glibc.*Alpine.*`system`/);
  expect(explain(BIN, { code: 127, output: 'error while loading shared libraries: libicuuc.so.60' })).toMatch(
    /libicuuc\.so\.60.*--ignore-scripts.*npm rebuild/,
  );
  expect(explain(BIN, { code: 'EPERM', output: 'spawn EPERM' })).toContain('ordinary user');
  expect(explain(BIN, { code: 1, output: 'what?' })).toContain('ended with 1: what?');
});

test('programs that are too old are refused', async () => {
  const old = { ...BIN, postgres: new URL('../../../support/sandbox/old-postgres', import.meta.url).pathname };
  const usable = await makeUsable(old, { user: undefined, directory: '/' });
  expect(usable).toMatchObject({ kind: 'unusable', why: expect.stringMatching(/PostgreSQL 14\.9.*needs 15/) });
});
