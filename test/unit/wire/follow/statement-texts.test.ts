import { expect, test } from 'vitest';
import { StatementTexts } from '../../../../src/wire/follow/statement-texts.ts';

const THREE = ['app.one', 'app.two', 'app.three'];
const MINE = ['app.one', 'my-app.user-id'];

function read(...texts: readonly string[]): StatementTexts {
  const found = new StatementTexts();
  for (const text of texts) {
    const bytes = Buffer.from(`!${text}\0 set z.z = 1`);
    found.read(bytes, 1, bytes.length);
  }
  return found;
}

test.each([
  ["set app.tenant = 'a'", ['app.tenant']],
  ['SET  SESSION\n"App"."Tenant" TO 1; set local a.b.c = 2', ['App.Tenant', 'a.b.c']],
  ["select set_config('app.tenant', $1, false), SET_CONFIG( E'app.x' , '1', true)", ['app.tenant', 'app.x']],
  ["select pg_catalog.current_setting ('app.tenant', true)", ['app.tenant']],
  ["select current_setting('work_mem'); set work_mem = 1; reset app.x", []],
  ['select a.b from offset.c', []],
  ["set app.one = '--'; set app.two = '/*'; set app.three = '*/'", THREE],
  ["set/* a */app.one = 1; set -- b\n app.two = 2; set session /* /* c */ */ app.three = '--'", THREE],
  ["set app . one = 1; set app./**/two = 1; select set_config/* a */('app.three', 'x', false)", THREE],
  [`select "set_config"('app.one', 'x', false), "pg_catalog"."current_setting" ('my-app.user-id')`, MINE],
])('names in: %s', (text, names) => {
  expect(read(text).names()).toEqual(names);
  expect(read(text).hiddenState()).toBeUndefined();
  expect(read(text).computedName()).toBeUndefined();
});

test('a line comment alone is no part of a name', () => {
  expect(read('set -- a\n app.one = 1; set app.two = 2; set session --\n\n app.three = 3').names()).toEqual(
    expect.arrayContaining(THREE),
  );
});

test('a part that ends with words and a whole comment is no gap', () => {
  const found = new StatementTexts();
  const bytes = Buffer.from(`set app.x = '${'a'.repeat(600)} ${'b'.repeat(200)} /* c */ ${'d'.repeat(100)}`);
  found.read(bytes, 0, bytes.length);
  expect(found.hiddenState()).toBeUndefined();
  expect(found.preparedNames()).toEqual([]);
});

test.each([
  ["LOAD 'auto_explain'", 'LOAD'],
  ["select 1; load 'x'", 'load'],
  ['select setseed(0.5)', 'setseed'],
  ['set seed to 0.5', 'set seed'],
  ["select dblink_connect('c', 'dbname=x')", 'dblink_connect'],
  ["select pg_replication_origin_session_setup('o')", 'pg_replication_origin_session_setup'],
  ['set "app"."größe" = 1', 'a custom setting whose name is not ASCII'],
  ["/* a */ load 'x'", 'load'],
  ["do $$ begin execute 'load ''x'''; end $$", "load ''"],
  ['select "setseed" (0.5)', 'setseed'],
  ["select pg_backup_start('nightly', true)", 'pg_backup_start'],
  ["select lsn from pg_catalog.pg_start_backup('nightly', true, false)", 'pg_start_backup'],
  ["select set_config('seed', '0.5', false)", "set_config('seed'"],
  ['set local/**/seed = 0.5', 'set local seed'],
  [String.raw`set U&"app\002ex" = 1`, 'a custom setting whose name has escapes'],
  [`set a.${'x'.repeat(99)} = 1`, 'too many custom settings'],
  [Array.from({ length: 101 }, (_, at) => `set a.s${at} = 1`).join(';'), 'too many custom settings'],
])('hidden state: %s', (text, hidden) => {
  expect(read(text, "load 'later'").hiddenState()).toBe(hidden);
});

test.each(['select payload from t', 'select loaded, reload()', 'update t set seeds = 1', "select 'x' as download"])(
  'nothing is hidden in: %s',
  (text) => {
    expect(read(text).hiddenState()).toBeUndefined();
  },
);

test.each([
  'select set_config($1, $2, false)',
  "select set_config('app.' || name, value, false) from t",
  'select set_config( name, value, false) from t',
  'select set_config($1, $2, $3)',
  "select set_config(lower('App.X'), 'a', (true))",
  `select "set_config"(a, b, false) from t`,
  "select set_config('dq'||'.y', ', true)', false)",
  "do $$ begin execute 'select set_config(' || quote_literal(n) || ', ''x'', false)'; end $$",
])('a computed name: %s', (text) => {
  expect(read(text).computedName()).toContain('set_config');
});

test.each([
  "do $$ begin execute format('set app.%I = %L', a, b); end $$",
  "do $$ begin execute 'set session ' || a || ' = 1'; end $$",
  "do $$ begin execute concat('set ', a, ' = 1'); end $$",
])('a computed SET: %s', (text) => {
  expect(read(text).computedName()).toMatch(/^set/);
});

test.each([
  "do $a$ begin execute format($f$set %s = 'x'$f$, 'dq.x'); end $a$",
  "do $a$ begin execute $f$set dq.$f$ || 'x = 1'; end $a$",
  'do $a$ begin execute (select s from texts); end $a$',
  '/* a */ DO LANGUAGE plpgsql $a$ declare t text; begin execute t; end $a$',
  "do 'begin execute t; end'",
  "select 1; do $$ begin execute upper('x'); end $$",
  'do $$ plpy.execute("x") $$ language plpython3u',
  'do language plperl $$ spi_exec_query(join("", "S", "ET")) $$',
  `do $$ begin perform '${'x'.repeat(5_000)}'; execute t; end $$`,
])('a DO that may set anything: %s', (text) => {
  expect(read(text).computedName()).toBeDefined();
});

test.each([
  "do $$ begin execute 'create table ' || t; execute format('drop table %I', t); execute ('select 1'); end $$",
  'do $$ begin execute $q$alter table t add c int$q$; grant execute on function f to app; end $$',
  'execute p(1)',
  "insert into t values (1) on conflict do nothing; execute p('set')",
])('nothing is computed in: %s', (text) => {
  expect(read(text).computedName()).toBeUndefined();
});

test.each([
  ' '.repeat(70_000),
  `/* ${'c'.repeat(70_000)} */`,
  `${' '.repeat(300)}/* ${'c'.repeat(600)} */ `.repeat(40),
])('a SET whose name is far behind it keeps the session', (gap) => {
  const bytes = Buffer.from(`select '${'x'.repeat(9_000)}'; set ${gap} app.x = 1\0`);
  const found = new StatementTexts();
  found.read(bytes, 0, 16_385);
  for (let at = 16_385; at < bytes.length; at += 16_384) found.readOn(bytes, at, Math.min(bytes.length, at + 16_384));
  expect(found.hiddenState() ?? found.names()[0]).toMatch(/gap|app\.x/);
});

test.each([
  "do $$ begin execute 'set app.x = ' || quote_literal(a); execute format('set local %I = 1', b); end $$",
  "update t set a = '%' || b, c = 'set'",
  'select set_config($1, $2, true)',
  "select set_config('app.x', $1, false)",
  "select set_config('search_path', $1, true), set_config($2, $3, is_local => true)",
])('no computed name: %s', (text) => {
  expect(read(text).computedName()).toBeUndefined();
});

test('a text in parts is read as one', () => {
  const text = `select '${'x'.repeat(3000)}'; set app.far = 1; select set_config('app.further', 'y', false), 1`;
  const bytes = Buffer.from(`${text}\0`);
  for (let cut = 1; cut < bytes.length; cut += 1) {
    const found = new StatementTexts();
    found.read(bytes, 0, cut);
    found.readOn(bytes, cut, bytes.length);
    expect(found.names()).toEqual(expect.arrayContaining(['app.far', 'app.further']));
    expect(found.computedName()).toBeUndefined();
    expect(found.hiddenState()).toBeUndefined();
    found.readOn(Buffer.from("; load 'x'"), 0, 10);
    expect(found.hiddenState()).toBeUndefined();
  }
});

/** A text that comes in two parts. */
function readParts(first: string, second: string): StatementTexts {
  const found = new StatementTexts();
  found.read(Buffer.from(first), 0, first.length);
  found.readOn(Buffer.from(`${second}\0`), 0, second.length + 1);
  return found;
}

test.each(['set ap', 'set', `set${' '.repeat(509)}`])('the next part has the rest of %j', (first) => {
  const found = readParts(first, `${first.endsWith('ap') ? '' : ' ap'}p.x = 1`);
  expect([found.names(), found.hiddenState()]).toEqual([['app.x'], undefined]);
});

const CUT_COMMENT = `/* ${'c'.repeat(1_000)} */`;

test.each([
  ['a line comment that goes on', `set --${'c'.repeat(600)}`, true],
  ['the end of a comment, and a whole one', `set ${CUT_COMMENT} /* d */ `, true],
  ['the end of a comment, and few characters', `set ${CUT_COMMENT}${'a'.repeat(127)}`, true],
  ['the end of a comment, and some more', `set ${CUT_COMMENT}${'a'.repeat(128)}`, false],
  ['few characters, and blanks', `set ${' '.repeat(600)}a${' '.repeat(386)}${'b'.repeat(125)}`, true],
  ['some more, and blanks', `set ${' '.repeat(600)}a${' '.repeat(385)}${'b'.repeat(126)}`, false],
])('an overlap that has %s: whether the words before it are far away', (_, first, isFar) => {
  expect(readParts(first, ' app.x = 1').hiddenState()).toBe(isFar ? 'a long gap in a statement' : undefined);
});

test('a name may have a hundred characters, and a hundred prepared statements are known', () => {
  const longest = `a.${'x'.repeat(98)}`;
  expect([read(`set ${longest} = 1`).names(), read(`set ${longest} = 1`).hiddenState()]).toEqual([
    [longest],
    undefined,
  ]);
  const prepares = Array.from({ length: 101 }, (__, at) => `prepare p${at} as select 1`);
  expect(read(prepares.join(';')).preparedNames()).toHaveLength(100);
});

test('a name is found once more when there is no place for another one', () => {
  const full = Array.from({ length: 100 }, (_, at) => `set a.s${at} = 1`).join(';');
  expect(read(full, 'set a.s0 = 2').hiddenState()).toBeUndefined();
  expect(read(full, 'set a.t = 2').hiddenState()).toBe('too many custom settings');
});

test('bytes behind the end are of another message', () => {
  const found = new StatementTexts();
  found.read(Buffer.from('select 1; set app.x = 1\0'), 0, 9);
  expect(found.names()).toEqual([]);
});

test('a computed name is found in the first part of a long text', () => {
  const found = new StatementTexts();
  const bytes = Buffer.from(`select set_config(a, b, false), '${'x'.repeat(2_000)}'\0`);
  found.read(bytes, 0, 1_900);
  found.readOn(bytes, 1_900, bytes.length);
  expect(found.computedName()).toContain('set_config');
});

test.each([
  ['prepare a as select 1', true],
  ['select prepared from t', false],
])('%s: whether a text had the word PREPARE', (text, has) => {
  expect(read(text).hasPrepare()).toBe(has);
  expect(read(text, 'set app.x = 1').hasPrepare()).toBe(has);
});

// A client's text stops all clients for as long as it is read. A second look at each character takes 10 s and more.
test.each([
  ["select set_config('a", '.'],
  ["select set_config('", 'a.'],
  ['select set_config(', ','],
  ['select set_config(', "'a' "],
  ['do $$ execute ', '('],
  ['do $$ execute ', "'"],
  ['set ', ' '],
  ['set a', '. a'],
  ['', '$a'],
  ['', "'"],
  ['', '/*'],
  ['', 'prepare "'],
])('a long text of %j and many %j takes linear time', (beginning, part) => {
  const from = performance.now();
  read(beginning + part.repeat(100_000 / part.length));
  expect(performance.now() - from).toBeLessThan(2_000);
});

test('a long text in many parts takes linear time', () => {
  const from = performance.now();
  const found = new StatementTexts();
  const part = Buffer.from('x set '.repeat(200));
  found.read(part, 0, part.length);
  for (let count = 0; count < 2_000; count += 1) found.readOn(part, 0, part.length);
  expect(performance.now() - from).toBeLessThan(2_000);
});
