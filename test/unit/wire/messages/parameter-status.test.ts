// A setting that a server tells: text with one character for each byte.
import { expect, test } from 'vitest';
import {
  encodeParameter,
  MOST_TOLD_BYTES,
  readParameter,
  ToldParameters,
} from '../../../../src/wire/messages/parameter-status.ts';
import { parameterStatus } from '../../../support/sockets/messages.ts';

test('it is read where it is, and written as a server writes it', () => {
  const bytes = parameterStatus('TimeZone', 'UTC');
  expect(Buffer.from(encodeParameter('TimeZone', 'UTC'))).toEqual(bytes);
  expect(readParameter(Buffer.concat([bytes, bytes]), bytes.length + 5, bytes.length - 5)).toEqual(['TimeZone', 'UTC']);
});

test.each([
  ['no name', ''],
  ['no end of the name', 'TimeZone'],
  ['no value', 'TimeZone\0'],
  ['no end of the value', 'TimeZone\0UTC'],
])('incomplete: %s, whatever is behind it', (_, body) => {
  const bytes = Buffer.from(body);
  expect(readParameter(bytes, 0, bytes.length)).toBeUndefined();
  expect(readParameter(Buffer.concat([bytes, Buffer.from('x\0y\0')]), 0, bytes.length)).toBeUndefined();
  expect(new ToldParameters().learn(bytes)).toBe(false);
});

function inner(before: string, body: string, behind: string) {
  return readParameter(Buffer.from(before + body + behind), before.length, body.length);
}

test('a NUL before it or right behind it is none of its own', () => {
  expect(inner('S\0\0', 'TimeZone', '')).toBeUndefined();
  expect(inner('S\0\0', 'TimeZone\0UTC', '\0')).toBeUndefined();
  expect(inner('S\0\0', 'TimeZone\0UTC\0', '\0')).toEqual(['TimeZone', 'UTC']);
});

test('names count with their place, and the last byte that fits is kept', () => {
  const told = new ToldParameters();
  const room = MOST_TOLD_BYTES - 2 * (1 + 100);
  expect(told.learn(Buffer.from('a\0x\0'))).toBe(true);
  expect(told.set('b', 'v'.repeat(room - 1))).toBe(true);
  expect(told.set('a', '')).toBe(true);
  expect(told.set('a', 'xy')).toBe(false);
  expect([...told.values().keys()]).toEqual(['a', 'b']);
  expect(told.values().get('a')).toBe('');
});
