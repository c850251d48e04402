import { beforeEach, describe, expect, it, test } from 'vitest';
import { isForAll, LastWords, maybeForOne } from '../../../../src/proxy/moves/last-words.ts';
import { encodeErrorResponse } from '../../../../src/wire/messages/error-response.ts';
import { errorOf } from '../../../support/sockets/messages.ts';

const fatal = (sqlState: string): Uint8Array => encodeErrorResponse({ sqlState, message: 'the end' });
/** The same fields in a NoticeResponse. */
function warning(sqlState: string): Uint8Array {
  const bytes = fatal(sqlState);
  bytes[0] = 'N'.charCodeAt(0);
  return bytes;
}

/** A message of so many bytes. */
function ofSize(size: number): Uint8Array {
  const rest = errorOf(['SFATAL', 'C57P01', 'M']).length;
  return errorOf(['SFATAL', 'C57P01', `M${'x'.repeat(size - rest)}`]);
}

let words: LastWords;
beforeEach(() => {
  words = new LastWords();
});

describe('the last words of a server that stops', () => {
  it.each(['57P01', '57P02', '57P03'])('are kept back: FATAL %s', (sqlState) => {
    expect(words.take(fatal(sqlState))).toBeUndefined();
    expect(words.release()).toEqual(fatal(sqlState));
    expect(words.release()).toBeUndefined();
  });

  it('are kept back in any chunks', () => {
    for (const byte of fatal('57P01')) expect(words.take(Uint8Array.of(byte))).toBeUndefined();
    expect(words.release()).toEqual(fatal('57P01'));
  });

  it('are a warning before a bare end, too', () => {
    expect(words.take(warning('57P02'))).toBeUndefined();
  });
});

describe('the meaning of last words', () => {
  it.each([
    ['57P01', false, true],
    ['57P02', true, false],
    ['57P03', false, false],
  ])('%s: for all sessions %s, perhaps for one alone %s', (sqlState, all, one) => {
    for (const bytes of [fatal(sqlState), warning(sqlState), Uint8Array.of(...fatal(sqlState), 0x45)]) {
      expect([isForAll(bytes), maybeForOne(bytes)]).toEqual([all, one]);
    }
  });

  it('a crash is for all sessions, whatever else is said', () => {
    const bytes = Uint8Array.of(...warning('57P02'), ...fatal('57P01'));
    expect([isForAll(bytes), maybeForOne(bytes)]).toEqual([true, false]);
  });
});

test('the part of a message behind them says nothing', () => {
  const bytes = Uint8Array.of(...warning('57P01'), ...fatal('57P02').subarray(0, -1));
  expect([isForAll(bytes), maybeForOne(bytes)]).toEqual([false, true]);
});

describe('other words', () => {
  it.each(['57P05', '57P04', '25P03', '40001', '53200'])('pass at once: FATAL %s', (sqlState) => {
    expect(words.take(fatal(sqlState))).toEqual(fatal(sqlState));
    expect(words.release()).toBeUndefined();
  });

  it('pass with what was kept before', () => {
    const bytes = fatal('57P05');
    expect(words.take(bytes.subarray(0, 20))).toBeUndefined();
    expect(words.take(bytes.subarray(20))).toEqual(bytes);
  });

  it('pass when another message follows', () => {
    const bytes = Uint8Array.of(...warning('57P02'), 0x5a, 0, 0, 0, 5, 0x49);
    expect(words.take(bytes)).toEqual(bytes);
  });

  it('pass when they are too long, as soon as that is known', () => {
    expect(words.take(ofSize(8_192))).toBeUndefined();
    words.release();
    const header = Uint8Array.from(ofSize(8_193).subarray(0, 5));
    expect(words.take(header.subarray(0, 4))).toBeUndefined();
    expect(words.take(header.subarray(4))).toEqual(header);
  });

  it('pass when there are too many: a server may not fill the memory with them', () => {
    const one = warning('57P01');
    const most = Math.floor(8_192 / one.length);
    for (let count = 0; count < most; count += 1) expect(words.take(one)).toBeUndefined();
    expect(words.take(one)).toHaveLength((most + 1) * one.length);
    expect(words.release()).toBeUndefined();
  });

  it.each([0x53, 0x41, 0x5a, 0x54])('pass: a message of type %i', (type) => {
    expect(words.take(Uint8Array.of(type, 0, 0))).toEqual(Uint8Array.of(type, 0, 0));
  });
});
