// The statement that looks for names of settings in a database. Real servers run it in test/integration/wire/.
import { expect, test } from 'vitest';
import { namedSettingsInput, namedSettingsSql } from '../../../../src/wire/talk/named-settings.ts';

const flat = (serverMajor: number): string => namedSettingsSql(serverMajor).replaceAll(/\s+/g, ' ');

/** Each text that it reads: catalog, owner, schema, column, and whether that is a parsed expression. */
function places(sql: string): readonly (readonly string[])[] {
  const head =
    /SELECT 'pg_catalog\.(\w+)'::pg_catalog\.regclass::pg_catalog\.oid, x\.oid, ([\w.]+), ([\w.]+), '(\w+)',/;
  const tail =
    / (true|false), x\.(\w+)::pg_catalog\.text FROM pg_catalog\.(\w+) AS x JOIN .*? WHERE x\.(\w+) IS NOT NULL/;
  const pattern = new RegExp(head.source + tail.source, 'g');
  return [...sql.matchAll(pattern)].map(
    ([, catalog = '', owner = '', schema = '', column = '', isTree = '', ...same]) => {
      expect(same).toEqual([column, catalog, column]);
      return [catalog, owner, schema, column, isTree];
    },
  );
}

test('it reads each text and each expression in which a database may name a setting', () => {
  const sql = flat(14);
  const ofTable = ['r.relowner', 'r.relnamespace'];
  const ofFunction = ['x.proowner', 'x.pronamespace'];
  expect(places(sql)).toEqual([
    ['pg_proc', ...ofFunction, 'prosrc', 'false'],
    ['pg_proc', ...ofFunction, 'prosqlbody', 'true'],
    ['pg_proc', ...ofFunction, 'proargdefaults', 'true'],
    ['pg_policy', ...ofTable, 'polqual', 'true'],
    ['pg_policy', ...ofTable, 'polwithcheck', 'true'],
    ['pg_rewrite', ...ofTable, 'ev_action', 'true'],
    ['pg_rewrite', ...ofTable, 'ev_qual', 'true'],
    ['pg_attrdef', ...ofTable, 'adbin', 'true'],
    ['pg_constraint', ...ofTable, 'conbin', 'true'],
    ['pg_trigger', ...ofTable, 'tgqual', 'true'],
    ['pg_constraint', 'r.typowner', 'r.typnamespace', 'conbin', 'true'],
    ['pg_type', 'x.typowner', 'x.typnamespace', 'typdefaultbin', 'true'],
  ]);
  const versions = [...sql.matchAll(/(\(|UNION ALL) SELECT x\.xmin FROM pg_catalog\.(\w+) AS x JOIN/g)];
  expect(versions.map(([, before]) => before)).toEqual(['(', ...Array.from({ length: 7 }, () => 'UNION ALL')]);
  expect([...sql.matchAll(/(\(|UNION ALL) SELECT 'pg_catalog/g)]).toHaveLength(12);
});

test('a server before 14 keeps no function parsed', () => {
  expect(places(flat(13)).filter(([catalog]) => catalog === 'pg_proc')).toEqual([
    ['pg_proc', 'x.proowner', 'x.pronamespace', 'prosrc', 'false'],
    ['pg_proc', 'x.proowner', 'x.pronamespace', 'proargdefaults', 'true'],
  ]);
});

test('it finds each place of a name, and owners take turns up to the limits', () => {
  const sql = flat(18);
  const literal = "'(?:[^']|'')*'";
  const found = [...sql.matchAll(new RegExp(`regexp_matches\\(s\\.body, ${literal}, '(\\w*)'\\)`, 'g'))];
  expect(found.map(([, flags]) => flags)).toEqual(['gi', 'g', 'g', 'g']);
  expect(sql.match(new RegExp(`s\\.body OPERATOR\\(pg_catalog\\.~\\*\\) ${literal}`, 'g'))).toHaveLength(4);
  expect(sql.match(new RegExp(`s\\.body OPERATOR\\(pg_catalog\\.~\\) ${literal}`, 'g'))).toHaveLength(2);
  expect(sql).toMatch(/x\.n OPERATOR\(pg_catalog\.~\) '\^.+\$'\)/);
  const counted = [...sql.matchAll(/replace\((.+?), ('[^ ]+'), ''\)\)\) OPERATOR\(pg_catalog\.\/\) (\d+)\)/g)];
  expect(counted.map(([, text, part, size]) => [text, part, size])).toEqual([
    ['s.body', "':constvalue'", '11'],
    ['pg_catalog.lower(s.body COLLATE pg_catalog."C")', "'set'", '3'],
    ['s.body', "''''", '1'],
  ]);
  const sums = [...sql.matchAll(/pg_catalog\.sum\(([\w.]+)\) OVER \((ORDER|PARTITION) BY (\w+)/g)];
  expect(sums.map(([, ...sum]) => sum.join(' '))).toEqual([
    's.counted ORDER own',
    'counted PARTITION owner',
    's.places ORDER own',
    'places PARTITION owner',
  ]);
});

// A session may have any search_path, and any meaning of a backslash.
test.each([13, 14, 18])('it takes no setting of the session into account: PostgreSQL %d', (serverMajor) => {
  const sql = namedSettingsSql(serverMajor);
  const code = sql.replaceAll(/'(?:[^']|'')*'/g, "''");
  expect(sql).not.toMatch(/\\|undefined/);
  expect(code.replaceAll(/OPERATOR\(pg_catalog\.[^)]+\)/g, '')).not.toMatch(/[<>=~!|/+-]/);
  const words =
    /^(?:all|and|any|as|exists|from|in|lateral|operator|or|over|when|then|else|select|where|on|materialized)$/i;
  const called = [...code.matchAll(/([\w.]+) ?\(/g)].map(([, name = '']) => name).filter((name) => !words.test(name));
  const defined = /^(?:input|catalog|found|named|unclear|d|c|s|b|m|x|r|u|o)$/;
  expect(called.filter((name) => !name.startsWith('pg_catalog.') && !defined.test(name))).toEqual([]);
});

test('the names to ask for are those of the client and those of the database, each once', () => {
  const input = namedSettingsInput(['a.b', 'c.d'], { version: '7', names: ['c.d', 'e.f'], unclear: ['1 2'] });
  expect(JSON.parse(input)).toEqual({ names: ['a.b', 'c.d', 'e.f'], version: '7', unclear: ['1 2'] });
});
