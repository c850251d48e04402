import { describe, expect, it } from 'vitest';
import { commandAt, effectOfCommand, effectOfText, mayBeClean } from '../../../../src/wire/follow/statement-effect.ts';

describe('a text', () => {
  it.each([
    '',
    ' ; ',
    'BEGIN',
    'begin isolation level repeatable read, read only',
    'START TRANSACTION READ WRITE',
    'COMMIT',
    'end transaction',
    'ROLLBACK TO SAVEPOINT a1',
    'RELEASE a1',
    'SHOW server_version',
    'show app.tenant;',
    'SHOW TRANSACTION ISOLATION LEVEL',
    'SELECT 1',
    "select 1, 'x' AS word, now()",
    'select current_user',
    'SELECT pg_catalog.version();',
    'begin; select 1; commit',
    'SELECT  1,\n\t2',
  ])('that certainly leaves nothing is clean: %s', (text) => {
    expect(effectOfText(text, true)).toBe('clean');
  });

  it.each([
    'SELECT * FROM accounts',
    'SELECT count(*) FROM a WHERE b = 1',
    'SELECT f()',
    "INSERT INTO t VALUES ('into') ON CONFLICT DO NOTHING",
    'UPDATE t SET x = 1',
    'MERGE INTO t USING s ON true WHEN MATCHED THEN DO NOTHING',
    'SELECT 1 -- comment',
    "SELECT E'a'",
    'select 1 + 1',
    'select 1  from a',
    'TABLE accounts',
  ])('of which that is not certain is unsure: %s', (text) => {
    expect(effectOfText(text, true)).toBe('unsure');
  });

  it.each([
    'SET work_mem = 1',
    'select set_config($1, $2, false)',
    'SELECT pg_advisory_lock(1)',
    'SELECT pg_try_advisory_lock_shared(1)',
    'SELECT * INTO TEMP x FROM y',
    'CREATE TABLE x AS SELECT 1',
    'LISTEN jobs',
    'DISCARD ALL',
    "PREPARE p AS SELECT 'a'",
    'DECLARE c CURSOR WITH HOLD FOR SELECT 1',
    'begin; set local x = 1; commit',
    "LOAD 'auto_explain'",
    'DO $$ begin end $$',
    'CALL p()',
    `SELECT '${'x'.repeat(9_000)}'`,
    String.raw`SELECT 'a\'; SET x = 1'`,
    String.raw`SELECT E'a\'', set_config('a.b', 'c', false)`,
    `SELECT $a$'$a$, set_config('a.b', 'c', false)`,
    "SELECT date'2000-01-01'into x",
  ])('that leaves something is dirty: %s', (text) => {
    expect(effectOfText(text, true)).toBe('dirty');
  });

  it.each([
    ['select now()', 'unsure'],
    ["select 1, 'x' AS word, version()", 'unsure'],
    ['select pg_catalog.now(), current_user', 'clean'],
    ['select 1', 'clean'],
  ])('may be a function of another schema that comes first: %s is %s', (text, effect) => {
    expect(effectOfText(text, false)).toBe(effect);
  });

  it.each(["select 'set'", "select * from t where a = 'create'"])('is not dirty because of a value: %s', (text) => {
    expect(effectOfText(text, true)).not.toBe('dirty');
  });
});

/** As the body of a CommandComplete, behind other bytes. */
function commandOf(tag: string, size = tag.length + 1): string {
  return commandAt(new TextEncoder().encode(`C${tag}\0SELECT 1`), 1, size);
}

const effectOf = (tag: string) => effectOfCommand(commandOf(tag));

describe('a tag', () => {
  it.each(['BEGIN', 'START TRANSACTION', 'COMMIT', 'ROLLBACK', 'SAVEPOINT', 'RELEASE', 'SHOW'])(
    '%s is clean',
    (tag) => {
      expect(effectOf(tag)).toBe('clean');
    },
  );

  it.each(['SELECT 5', 'INSERT 0 1', 'UPDATE 0', 'DELETE 7', 'MERGE 3', 'COPY 12', 'FETCH 1', 'EXPLAIN'])(
    '%s leaves it to the text',
    (tag) => {
      expect(effectOf(tag)).toBe('clean');
    },
  );

  it.each(['SET', 'RESET', 'PREPARE', 'DEALLOCATE', 'DISCARD ALL', 'LISTEN', 'DECLARE CURSOR', 'LOAD', 'DO', 'CALL'])(
    '%s is dirty',
    (tag) => {
      expect(effectOf(tag)).toBe('dirty');
    },
  );

  it.each(['CREATE TABLE', 'CREATE TABLE AS', 'CREATE SEQUENCE', 'DROP TABLE', 'VACUUM', 'SOMETHING NEW 5', ''])(
    '%s is dirty, because only the others are known',
    (tag) => {
      expect(effectOf(tag)).toBe('dirty');
    },
  );

  it.each([
    ['SELECT 5', 'SELECT'],
    ['SELECT', 'SELECT'],
    ['INSERT 0 9', 'INSERT'],
    ['BEGIN', 'BEGIN'],
    ['MERGE 3', 'MERGE'],
    ['SELECT 0', 'SELECT'],
    ['SELECT 9', 'SELECT'],
    ['SELECT1', 'SELECT1'],
    ['SELECT INTO', 'SELECT INTO'],
    ['SELECT :', 'SELECT :'],
    ['SELECT /', 'SELECT /'],
    ['SOMETHING NEW 12', 'SOMETHING NEW'],
    ['SELECTS 5', 'SELECTS'],
    ['UPDATED', 'UPDATED'],
    ['COMMIT PREPARED', 'COMMIT PREPARED'],
    ['', ''],
  ])('%s is the command "%s"', (tag, command) => {
    expect(commandOf(tag)).toBe(command);
  });

  it('of which less is shown is read no further', () => {
    expect(commandOf('COMMIT PREPARED', 6)).toBe('COMMIT');
    expect(commandOf('COMMIT PREPARED', 5)).toBe('COMMI');
    expect(commandOf('COMMIT', 6)).toBe('COMMIT');
  });
});

function isDoubtful(text: string): boolean {
  const bytes = new TextEncoder().encode(`select 1${text}\0select 1`);
  return mayBeClean(bytes, 8);
}

describe('a text without telling words', () => {
  it.each([
    '',
    ' ',
    ' ; select a',
    'select 1',
    'SELECT 0',
    'sElEcT\t\n\v\f\r -9',
    "  select 'x'",
    'select true',
    'select FALSE',
    'select null',
    'select pg_catalog.now()',
    'select now()',
    'select version()',
    'select current_user',
    'select clock_timestamp()',
    'select session_user',
    'select USER',
    "SELECT 'a'",
    'select\r1',
    'select é',
    '\u00a0select a',
    'é',
  ])('may be clean: %j', (text) => {
    expect(isDoubtful(text)).toBe(true);
  });

  it.each([
    'select',
    'select ',
    'select a',
    'select u',
    'select nu',
    'table a',
    'selec 1',
    'a',

    'select /1',
    'select :',
    'select \x011',
    'select \x7f',
    '\x7fa',
    'select \x0e1',
  ])('is certainly unsure: %j', (text) => {
    expect(isDoubtful(text)).toBe(false);
    expect(effectOfText(text, true)).toBe('unsure');
  });
});
