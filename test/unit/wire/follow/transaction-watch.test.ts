// Whether a rollback undoes all of an open transaction, and whether its last statement may end it: by the messages of
// client and server, as the followers read them.
import { describe, expect, test } from 'vitest';
import { SessionFollower } from '../../../../src/wire/follow/session-follower.ts';
import { SessionMemory } from '../../../../src/wire/follow/session-memory.ts';
import { StatementWatch } from '../../../../src/wire/follow/statement-watch.ts';
import { TransactionWatch } from '../../../../src/wire/follow/transaction-watch.ts';
import { STARTED } from '../../../support/sockets/dialogues.ts';
import {
  aMessage,
  BIND,
  COPY_IN_RESPONSE,
  DATA_ROW,
  errorOf,
  EXECUTE,
  readyForQuery,
  SYNC,
} from '../../../support/sockets/messages.ts';

const query = (text: string): Buffer => aMessage('Q', Buffer.from(`${text}\0`));
const parse = (name: string, text: string): Buffer => aMessage('P', Buffer.from(`${name}\0${text}\0\0\0`));
const bind = (name: string): Buffer => aMessage('B', Buffer.from(`\0${name}\0\0\0\0\0\0\0`));
const tag = (text: string): Buffer => aMessage('C', Buffer.from(`${text}\0`));
const IN_BLOCK = readyForQuery('T');
const IDLE = readyForQuery('I');
const PREPARED: Readonly<Record<string, string>> = {
  s1: 'insert into t values ($1)',
  s2: 'select pg_advisory_lock(1)',
};

class Dialogue {
  readonly watch = new StatementWatch();
  readonly follower: SessionFollower;

  constructor() {
    const memory = new SessionMemory();
    memory.watch = this.watch;
    this.follower = new SessionFollower(memory);
    this.says(...STARTED);
    this.asks(query('begin'));
    this.says(tag('BEGIN'), IN_BLOCK);
  }

  asks(...messages: readonly Uint8Array[]): this {
    this.follower.fromClient(Buffer.concat(messages));
    return this;
  }

  says(...messages: readonly Uint8Array[]): this {
    this.follower.fromBackend(Buffer.concat(messages));
    return this;
  }

  runs(text: string, command: string): this {
    return this.asks(query(text)).says(tag(command), IN_BLOCK);
  }

  isLasting(): boolean {
    return !this.watch.transaction.isVoid((name) => PREPARED[name]);
  }
}

describe('a rollback undoes', () => {
  test.each([
    ['insert into t values (1) on conflict do nothing', 'INSERT 0 1'],
    ["update t set a = 'x' where b = 1", 'UPDATE 3'],
    ['select * from t for update', 'SELECT 3'],
    ['set work_mem = 1', 'SET'],
    ['create temp table x (a int)', 'CREATE TABLE'],
    ['savepoint a', 'SAVEPOINT'],
    ['rollback to savepoint a', 'ROLLBACK'],
  ])('%s', (text, command) => {
    expect(new Dialogue().runs(text, command).isLasting()).toBe(false);
  });

  test('what a statement did that was prepared before', () => {
    const dialogue = new Dialogue().asks(bind('s1'), EXECUTE, SYNC).says(aMessage('2'), tag('INSERT 0 1'), IN_BLOCK);
    expect(dialogue.isLasting()).toBe(false);
  });

  test('what one without a name did', () => {
    const closed = aMessage('C', Buffer.from('P\0'));
    const dialogue = new Dialogue().asks(parse('', 'insert into t values (1)'), BIND, EXECUTE, closed, SYNC);
    expect(dialogue.says(aMessage('1'), aMessage('2'), tag('INSERT 0 1'), IN_BLOCK).isLasting()).toBe(false);
  });

  test('thousands of statements', () => {
    const dialogue = new Dialogue();
    for (let at = 0; at < 1_000; at += 1) dialogue.runs(`insert into t values (${at})`, 'INSERT 0 1');
    expect(dialogue.isLasting()).toBe(false);
    dialogue.runs('select pg_advisory_lock(1)', 'SELECT 1');
    for (let at = 0; at < 100; at += 1) dialogue.runs(`insert into t values (${at})`, 'INSERT 0 1');
    expect(dialogue.isLasting()).toBe(true);
  });
});

describe('a rollback does not undo, or it is not known', () => {
  test.each([
    ['select pg_advisory_lock(1)', 'SELECT 1'],
    ['select U&"pg\\005fadvisory_lock"(1)', 'SELECT 1'],
    ['prepare a as select 1', 'PREPARE'],
    ['execute a', 'SELECT 1'],
    ['deallocate a', 'DEALLOCATE'],
    ["load 'auto_explain'", 'LOAD'],
    ['do $$ begin perform 1; end $$', 'DO'],
    ['/* by the ORM */ do $$ begin end $$', 'DO'],
    ['call work()', 'CALL'],
    ['vacuum t', 'VACUUM'],
    ['commit and chain', 'COMMIT'],
    ['rollback and chain', 'ROLLBACK'],
    ['rollback; begin', 'BEGIN'],
    ['create index concurrently i on t (a)', 'CREATE INDEX'],
    ['alter table t detach partition p concurrently', 'ALTER TABLE'],
    [`select '${'x'.repeat(10_000)}'`, 'SELECT 1'],
  ])('%.50s', (text, command) => {
    expect(new Dialogue().runs(text, command).isLasting()).toBe(true);
  });

  test.each([
    ['a statement with a name', [parse('s3', 'select 1')]],
    ['the end of one', [aMessage('C', Buffer.from('Ss1\0'))]],
    ['a function that is called', [aMessage('F', Buffer.from([0, 0, 0, 1]))]],
    ['one that was prepared before, and locks', [bind('s2'), EXECUTE]],
    ['one whose text is not known', [bind('s9'), EXECUTE]],
    ['one without a name of before', [BIND, EXECUTE]],
    ['one without a name of before, and another one', [BIND, EXECUTE, parse('', 'select 1'), BIND, EXECUTE]],
    ['one whose name is too long', [bind('s'.repeat(500)), EXECUTE]],
  ])('%s', (_, messages) => {
    expect(new Dialogue().asks(...messages).isLasting()).toBe(true);
  });

  test.each([
    ['is cut', '\0s1\0', 0, 3],
    ['is cut before its end is there', '\0s1x', 0, 4],
    ['is behind a name that is cut', 's1\0abc', 3, 3],
  ])('one whose name %s', (_, text, at, size) => {
    const watch = new StatementWatch();
    watch.binds(Buffer.from(text), at, size);
    expect(watch.transaction.isVoid((name) => PREPARED[name])).toBe(false);
  });

  test('one without a name, in the shortest Bind', () => {
    const watch = new StatementWatch();
    watch.parses(Buffer.from('\0select a from t\0'), 0, 18);
    watch.binds(Buffer.from('\0\0'), 0, 2);
    expect(watch.transaction.isVoid(() => undefined)).toBe(true);
  });

  test('more different prepared ones than are kept', () => {
    const { watch } = new Dialogue().asks(...Array.from({ length: 64 }, (_, at) => bind(`n${at}`)));
    expect(watch.transaction.isVoid(() => 'select 1')).toBe(true);
    const other = new Dialogue().asks(...Array.from({ length: 65 }, (_, at) => bind(`n${at}`)));
    expect(other.watch.transaction.isVoid(() => 'select 1')).toBe(false);
  });
});

describe('between two transactions', () => {
  test.each([
    ['a text', (watch: TransactionWatch) => watch.reads('commit')],
    ['a text that was too long', (watch: TransactionWatch) => watch.reads(undefined)],
    ['a statement with a name', (watch: TransactionWatch) => watch.binds('s2')],
    ['a lasting effect', (watch: TransactionWatch) => watch.lasts()],
    ['a text that was judged', (watch: TransactionWatch) => (watch.reads('commit and chain'), watch.isVoid(() => ''))],
  ])('%s is forgotten', (_, happens) => {
    const watch = new TransactionWatch();
    happens(watch);
    watch.settles();
    expect(watch.isVoid((name) => PREPARED[name])).toBe(true);
  });

  test('a statement without a name is one of before', () => {
    const watch = new TransactionWatch();
    watch.reads('select 1', true);
    watch.binds('');
    expect(watch.isVoid(() => undefined)).toBe(true);
    watch.settles();
    watch.binds('');
    expect(watch.isVoid(() => undefined)).toBe(false);
  });

  test('all is forgotten', () => {
    const dialogue = new Dialogue().runs('select pg_advisory_lock(1)', 'SELECT 1');
    dialogue.asks(query('commit')).says(tag('COMMIT'), IDLE);
    dialogue.asks(query('begin')).says(tag('BEGIN'), IN_BLOCK);
    expect(dialogue.isLasting()).toBe(false);
  });

  test('the effect of what came before stays apart', () => {
    expect(new StatementWatch().effectBefore()).toBe('clean');
    const { watch } = new Dialogue().runs('update t set a = 1', 'UPDATE 1');
    expect([watch.effectBefore(), watch.effect()]).toEqual(['clean', 'unsure']);
    watch.settles();
    expect(watch.effectBefore()).toBe('unsure');
    watch.forget(true);
    expect(watch.effectBefore()).toBe('clean');
  });

  test('a transaction that ended behind the next BEGIN was not seen from outside: its rows are told', () => {
    const dialogue = new Dialogue();
    dialogue.asks(query('commit')).says(tag('COMMIT'), IDLE);
    dialogue.asks(query('insert into t values (1)'), query('begin'));
    dialogue.says(tag('INSERT 0 1'), IDLE, tag('BEGIN'));
    expect(dialogue.says(IN_BLOCK).isLasting()).toBe(true);
  });
});

describe('a statement in progress', () => {
  test.each([
    ['insert into t values (1)', false],
    ['select case when a then 1 end from t', false],
    ['rollback to savepoint a', false],
    ['rollback work to a', false],
    ['commit', true],
    ['insert into t values (1); end', true],
    [' \n ROLLBACK', true],
    ['abort', true],
    ["prepare transaction 'a'", true],
    ['/* a */ commit', true],
    ['-- a\nend', true],
    ['/* a */ select 1', false],
  ])('%s', (text, mayEnd) => {
    const dialogue = new Dialogue().asks(query(text));
    expect([dialogue.follower.mayFailOnce(), dialogue.isLasting()]).toEqual([true, mayEnd]);
  });

  const insert = query('insert into t values (1)');
  test.each<readonly [string, (dialogue: Dialogue) => Dialogue, boolean]>([
    ['whose rows have begun', (dialogue) => dialogue.asks(insert).says(DATA_ROW), true],
    ['in half a row', (dialogue) => dialogue.asks(insert).says(DATA_ROW.subarray(0, 7)), false],
    ['that has failed', (dialogue) => dialogue.asks(insert).says(errorOf(['SERROR', 'C22012'])), false],
    ['with another one behind it', (dialogue) => dialogue.asks(insert, insert), false],
    ['half of one', (dialogue) => dialogue.asks(insert.subarray(0, 7)), false],
    ['with its Sync', (dialogue) => dialogue.asks(parse('', 'select 1'), BIND, EXECUTE, SYNC), true],
    ['without a Sync', (dialogue) => dialogue.asks(parse('', 'select 1'), BIND, EXECUTE), false],
    ['a Sync alone', (dialogue) => dialogue.asks(SYNC), false],
    ['a COPY', (dialogue) => dialogue.asks(query('copy t from stdin')).says(COPY_IN_RESPONSE), false],
    ['none', (dialogue) => dialogue, false],
    ['none, between two transactions', (dialogue) => dialogue.asks(query('end')).says(tag('COMMIT'), IDLE), false],
    ['outside', (dialogue) => dialogue.asks(query('end')).says(tag('COMMIT'), IDLE).asks(insert), false],
    ['in a failed one', (dialogue) => dialogue.asks(insert).says(readyForQuery('E')).asks(insert), false],
  ])('%s: whether an error may end it', (_, play, mayFail) => {
    expect(play(new Dialogue()).follower.mayFailOnce()).toBe(mayFail);
  });
});

test('a text that is too long may be anything', () => {
  const watch = new TransactionWatch();
  watch.reads(undefined);
  expect(watch.isVoid(() => undefined)).toBe(false);
});

test('a statement of before counts behind one without a name', () => {
  const watch = new TransactionWatch();
  watch.reads('select 1', true);
  watch.binds('s2');
  expect(watch.isVoid((name) => PREPARED[name])).toBe(false);
});

test('a Query is no statement without a name', () => {
  const watch = new TransactionWatch();
  watch.reads('select 1');
  watch.binds('');
  expect(watch.isVoid(() => undefined)).toBe(false);
});

test('a statement of before that was prepared may end the transaction', () => {
  const watch = new TransactionWatch();
  watch.binds('ending');
  expect(watch.isVoid(() => 'commit')).toBe(false);
  expect(
    watch.isVoid(() => undefined),
    'judged once',
  ).toBe(false);
});

test('its names are judged by the statements of that moment', () => {
  const watch = new TransactionWatch();
  watch.binds('');
  watch.binds('s1');
  expect(watch.isVoid((name) => PREPARED[name])).toBe(false);
});
