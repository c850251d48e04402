// Statements that are prepared in one turn with a change of how literals are read.
import { describe, expect, test } from 'vitest';
import { SessionFollower } from '../../../../src/wire/follow/session-follower.ts';
import { SessionMemory } from '../../../../src/wire/follow/session-memory.ts';
import { SYNC, aMessage, readyForQuery } from '../../../support/sockets/messages.ts';
import { aParse } from '../../../support/sockets/wire-client.ts';

function following() {
  const memory = new SessionMemory();
  memory.begins(new Map());
  return { memory, follower: new SessionFollower(memory) };
}

function query(text: string): Buffer {
  return aMessage('Q', Buffer.from(`${text}\0`));
}

describe('a statement that is prepared in one turn with a change of how literals are read', () => {
  const set = aParse('', 'SET standard_conforming_strings = off');

  test.each<readonly [string, readonly Buffer[], boolean]>([
    ['a named one behind SET', [set, aParse('s', 'select 1'), SYNC], true],
    ['PREPARE in a DO', [query("do $$ begin set local timezone = 'x'; execute 'prepare p as select 1'; end $$")], true],
    [
      'PREPARE in a DO, with set_config',
      [query("do $$ begin set_config('DateStyle', x, true); prepare p; end $$")],
      true,
    ],
    ['a named one before SET', [aParse('s', 'select 1'), set, SYNC], false],
    ['PREPARE alone', [query("prepare p as select now() at time zone 'UTC'")], false],
  ])('%s: may have been read otherwise: %s', (_, messages, isOtherwise) => {
    const { memory, follower } = following();
    follower.fromBackend(readyForQuery('I'));
    follower.fromClient(Buffer.concat(messages));
    expect(memory.facts().changedReading.includes('standard_conforming_strings')).toBe(isOtherwise);
  });

  test('a turn that is over counts no more: the server tells what is different', () => {
    const { memory, follower } = following();
    follower.fromBackend(readyForQuery('I'));
    follower.fromClient(query("set timezone = 'UTC'"));
    follower.fromBackend(readyForQuery('I'));
    follower.fromClient(Buffer.concat([aParse('s', 'select 1'), SYNC]));
    expect(memory.facts().changedReading).toEqual([]);
  });

  test.each([
    ['set array_nulls = off', ['array_nulls']],
    [
      "select set_config('XMLOPTION', 'document', true); reset \"transform_null_equals\"",
      ['xmloption', 'transform_null_equals'],
    ],
    ["set search_path = 'array_nulls'", []],
  ])('a change that no server tells counts for good: %s', (text, names) => {
    const { memory, follower } = following();
    follower.fromBackend(readyForQuery('I'));
    follower.fromClient(query(text));
    follower.fromBackend(readyForQuery('I'));
    follower.fromClient(Buffer.concat([aParse('', 'select null'), SYNC]));
    expect(memory.facts().changedReading).toEqual(names);
    const unnamed = { text: 'select null', changedReading: names };
    expect(memory.facts().unsureUnnamed).toEqual(names.length === 0 ? undefined : unnamed);
  });

  test('the names that the client has prepared itself', () => {
    const { memory, follower } = following();
    follower.fromBackend(readyForQuery('I'));
    follower.fromClient(query(`PREPARE One as select 1; prepare "T""wo'" (int) as select $1; select 'prepare'`));
    expect(memory.facts().preparedNames).toEqual(['one', `T"wo'`]);
  });
});
