import { beforeEach, describe, expect, it } from 'vitest';
import { isForAll, LastWords, maybeForOne } from '../../../../src/proxy/moves/last-words.ts';
import { encodeErrorResponse } from '../../../../src/wire/messages/error-response.ts';

const fatal = (sqlState: string): Uint8Array => encodeErrorResponse({ sqlState, message: 'the end' });
/** The same fields in a NoticeResponse. */
function warning(sqlState: string): Uint8Array {
  const bytes = fatal(sqlState);
  bytes[0] = 'N'.charCodeAt(0);
  return bytes;
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

  it('pass when they are too long', () => {
    const long = Uint8Array.of('E'.charCodeAt(0), 0, 0, 0x40, 0, ...fatal('57P01').subarray(5));
    expect(words.take(long)).toEqual(long);
  });

  it.each([0x53, 0x41, 0x5a, 0x54])('pass: a message of type %i', (type) => {
    expect(words.take(Uint8Array.of(type, 0, 0))).toEqual(Uint8Array.of(type, 0, 0));
  });
});
