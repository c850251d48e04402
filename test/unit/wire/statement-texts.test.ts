import { expect, test } from 'vitest';
import { StatementTexts } from '../../../src/wire/statement-texts.ts';

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
])('names in: %s', (text, names) => {
  expect(read(text).names()).toEqual(names);
  expect(read(text).hiddenState()).toBeUndefined();
  expect(read(text).computedName()).toBeUndefined();
});

test.each([
  ["LOAD 'auto_explain'", 'LOAD'],
  ["select 1; load 'x'", 'load'],
  ['select setseed(0.5)', 'setseed('],
  ['set seed to 0.5', 'set seed'],
  ["select dblink_connect('c', 'dbname=x')", 'dblink_connect('],
  ["select pg_replication_origin_session_setup('o')", 'pg_replication_origin_session_setup('],
  ['set "app"."größe" = 1', 'a custom setting whose name is not ASCII'],
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
])('a computed name: %s', (text) => {
  expect(read(text).computedName()).toContain('set_config');
});

test.each([
  'select set_config($1, $2, true)',
  "select set_config('app.x', $1, false)",
  "select set_config('search_path', $1, true), set_config($2, $3, is_local => true)",
])('no computed name: %s', (text) => {
  expect(read(text).computedName()).toBeUndefined();
});
