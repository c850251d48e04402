// The first request of a client that does not know yet that its transaction was ended, in each form.
import { describe, expect, test } from 'vitest';
import { firstRequest } from '../../../../src/wire/follow/first-request.ts';
import { aMessage } from '../../../support/sockets/messages.ts';

const SYNC = aMessage('S');
const FLUSH = aMessage('H');
const query = (text: string): Buffer => aMessage('Q', Buffer.from(`${text}\0`));
const parse = (name: string, text: string): Buffer => aMessage('P', Buffer.from(`${name}\0${text}\0\0\0`));
const bind = (portal: string, name: string): Buffer => aMessage('B', Buffer.from(`${portal}\0${name}\0\0\0\0\0\0\0`));
const execute = (portal: string): Buffer => aMessage('E', Buffer.from(`${portal}\0\0\0\0\0`));
const close = (kind: string, name: string): Buffer => aMessage('C', Buffer.from(`${kind}${name}\0`));
const describing = (name: string): Buffer => aMessage('D', Buffer.from(`S${name}\0`));

const KNOWN = new Map([
  ['ending', 'COMMIT'],
  ['', 'end'],
  ['undoing', 'rollback'],
]);

function ask(...messages: readonly Uint8Array[]): string {
  // Nothing is behind them in memory.
  return firstRequest(Uint8Array.from(Buffer.concat(messages)), (name) => KNOWN.get(name));
}

describe('a simple query', () => {
  test.each([
    ['commit', 'commit'],
    [' ;\n COMMIT WORK', 'commit'],
    ['-- the end\n/* of /* all */ of it */ Commit and chain;', 'commit'],
    ['/* a */ -- b\r\n end transaction', 'commit'],
    ["prepare transaction 'x'", 'commit'],
    ['commit; select 1', 'commit'],
    ["commit prepared 'x'", 'other'],
    ['committed()', 'other'],
    ['prepare transactions as select 1', 'other'],
    ['endless', 'other'],
    ['rollback', 'rollback'],
    ['ABORT', 'rollback'],
    ['rollback and chain', 'rollback'],
    ['rollback; select 1', 'rollback'],
    ['rollback to savepoint s', 'other'],
    ['rollback to s', 'other'],
    ['rollback work to savepoint s', 'other'],
    ['rollback transaction to s', 'other'],
    ["rollback prepared 'x'", 'other'],
    ['rollbacks', 'other'],
    ['insert into t values (1); commit', 'other'],
    ['/* commit', 'other'],
    ['', 'other'],
  ])('%j: %s', (text, asked) => {
    expect(ask(query(text))).toBe(asked);
  });

  test('until all of it is there nothing is known', () => {
    const whole = query('rollback to s');
    for (let size = 0; size < whole.length; size += 1) expect(ask(whole.subarray(0, size))).toBe('incomplete');
  });

  test('a longer one is not waited for', () => {
    const long = query(`commit ${' '.repeat(10_000)}`);
    expect(ask(long.subarray(0, 8_192))).toBe('incomplete');
    expect(ask(long.subarray(0, 8_193))).toBe('other');
    expect(ask(long)).toBe('commit');
  });
});

describe('the extended protocol: the statement that is executed first counts', () => {
  test.each([
    ['a new one', [parse('', 'commit'), bind('', ''), describing(''), execute('')], 'commit'],
    ['a new one that is rolled back', [parse('s', 'rollback'), bind('p', 's'), execute('p')], 'rollback'],
    ['one that was prepared before', [bind('', 'ending'), execute('')], 'commit'],
    ['the unnamed one of before', [bind('', ''), execute('')], 'commit'],
    ['a rollback of before', [close('P', 'x'), bind('', 'undoing'), execute('')], 'rollback'],
    ['another one first', [parse('', 'select'), bind('', ''), execute(''), bind('', 'ending'), execute('')], 'other'],
    ['one of before that has a new text', [parse('ending', 'select 1'), bind('', 'ending'), execute('')], 'other'],
    ['one that was closed', [close('S', 'ending'), bind('', 'ending'), execute('')], 'other'],
    ['one whose name a closed portal had', [close('P', 'ending'), bind('', 'ending'), execute('')], 'commit'],
    ['one whose name is a part of a new name', [parse('Sending', 'x'), bind('', 'ending'), execute('')], 'commit'],
    [
      'one that is bound where a statement has that name',
      [bind('p', 'ending'), parse('p', 'x'), execute('p')],
      'commit',
    ],
    ['a portal of the transaction', [execute('cursor')], 'other'],
    ['an unknown one', [bind('', 'unknown'), execute('')], 'other'],
    ['none before the Sync', [parse('', 'rollback'), SYNC], 'other'],
    ['none before the Flush', [parse('', 'rollback'), FLUSH], 'other'],
    ['none before a query, which the server would skip', [parse('', 'x'), query('rollback')], 'other'],
  ])('%s', (_, messages, asked) => {
    expect(ask(...messages)).toBe(asked);
    const all = Buffer.concat(messages);
    for (let size = 0; size < all.length; size += 1)
      expect(['incomplete', asked]).toContain(ask(all.subarray(0, size)));
  });

  test('a call is no COMMIT', () => {
    expect(ask(Buffer.from('F'))).toBe('other');
  });

  test.each(['X', 'S', 'H', 'd', 'c', 'f'])('%s begins nothing', (type) => {
    expect(ask(Buffer.from(type), Buffer.alloc(10_000))).toBe('incomplete');
  });

  test('the server judges what is none of its protocol', () => {
    expect(ask(Buffer.from('?'))).toBe('rollback');
    expect(ask(Buffer.from([0x51, 0, 0, 0, 0]))).toBe('other');
    expect(ask(Buffer.from([0x50, 0xff, 0xff, 0xff, 0xff]))).toBe('other');
  });
});
