// The bodies of a server's replies.
import { expect, test } from 'vitest';
import { columnsOf, rowOf, serverError, typesOf } from '../../../../src/wire/talk/server-replies.ts';
import { literal, literals } from '../../../../src/wire/talk/sql-literals.ts';
import { aNumber } from '../../../support/sockets/messages.ts';

const short = (value: number): Buffer => Buffer.from([value >> 8, value & 255]);

test('a row: texts, an empty text and NULL', () => {
  const row = Buffer.concat([short(3), aNumber(2), Buffer.from('ab'), aNumber(0), aNumber(-1)]);
  expect(rowOf(row)).toEqual(['ab', '', null]);
  expect(rowOf(Buffer.alloc(0))).toEqual([]);
});

test.each([
  ['a size', short(1)],
  ['a value', Buffer.concat([short(1), aNumber(3), Buffer.from('ab')])],
  ['a size that is none', Buffer.concat([short(1), aNumber(-2), Buffer.from('ab')])],
])('no row: it misses %s', (_, body) => {
  expect(rowOf(body)).toBeUndefined();
});

test('the types of parameters, and the columns of rows', () => {
  expect(typesOf(Buffer.concat([short(2), aNumber(23), aNumber(-1)]))).toEqual([23, 0xffff_ffff]);
  const column = (name: string, type: number, modifier: number): Buffer =>
    Buffer.concat([Buffer.from(`${name}\0`), Buffer.alloc(6, 7), aNumber(type), short(9), aNumber(modifier), short(1)]);
  const body = Buffer.concat([short(2), column('a', 23, -1), column('b', 1043, 24)]);
  expect(columnsOf(body)).toEqual(['a:23:-1', 'b:1043:24']);
  expect([typesOf(undefined), columnsOf(undefined)]).toEqual([[], []]);
});

test('an error without words', () => {
  const error = { sqlState: '42501', message: '', isFatal: false, request: 'a' };
  expect(serverError(Buffer.from('SERROR\0C42501\0\0'), 'a')).toEqual(error);
});

test('literals of SQL', () => {
  expect(literal("it's")).toBe("'it''s'");
  expect(literals(['a', "b'c"])).toBe("'a', 'b''c'");
});
