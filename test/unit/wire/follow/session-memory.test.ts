import { describe, expect, test } from 'vitest';
import { SessionFollower } from '../../../../src/wire/follow/session-follower.ts';
import { SessionMemory } from '../../../../src/wire/follow/session-memory.ts';
import { StatementWatch } from '../../../../src/wire/follow/statement-watch.ts';
import { BIND, QUERY, SYNC, aMessage, parameterStatus } from '../../../support/sockets/messages.ts';
import { aParse } from '../../../support/sockets/wire-client.ts';
import { aState } from '../../../support/values/carried-state.ts';

function following() {
  const memory = new SessionMemory();
  memory.begins(new Map());
  return { memory, follower: new SessionFollower(memory) };
}

/** With a body of this many bytes. */
function ofSize(size: number): Buffer {
  return aParse('', 'x'.repeat(size - 4));
}

describe('the unnamed statement', () => {
  const parse = aParse('', 'select $1::int', [23]);

  test('is the Parse message as the client sent it', () => {
    const { memory, follower } = following();
    expect(memory.unnamed()).toBeUndefined();
    follower.fromClient(Buffer.concat([aParse('', 'select 1'), parse, BIND, SYNC, aParse('named', 'select 2')]));
    expect(Buffer.from(memory.unnamed() ?? [])).toEqual(parse);
  });

  test.each([
    ['a Query', QUERY],
    ['its Close', aMessage('C', Buffer.from('S\0'))],
  ])('ends with %s', (_, message) => {
    const { memory, follower } = following();
    follower.fromClient(Buffer.concat([parse, message]));
    expect(memory.unnamed()).toBeUndefined();
  });

  test('is the last one, and as long as that', () => {
    const { memory, follower } = following();
    follower.fromClient(Buffer.concat([aParse('', 'select 1, 2, 3, 4, 5, 6, 7, 8, 9'), parse]));
    expect([Buffer.from(memory.unnamed() ?? []), memory.unnamedText()]).toEqual([parse, 'select $1::int']);
    follower.fromClient(QUERY);
    expect([memory.unnamed(), memory.unnamedText()]).toEqual([undefined, undefined]);
  });

  test.each([
    ['Parse', aParse('named', 'select 1')],
    ['Close', aMessage('C', Buffer.from('Snamed\0'))],
  ])('is unknown to the %s of another one', (_, message) => {
    const { memory, follower } = following();
    follower.fromClient(message);
    expect(memory.facts()).toMatchObject({ isUnnamedTooLong: false, isUnnamedInDoubt: false });
  });

  test('goes to the next server with its encoding, unless its own server refused it', () => {
    const { memory, follower } = following();
    const description = { parameterTypes: [23], resultColumns: undefined };
    expect(memory.carriedUnnamed(aState({ unnamed: description }))).toBeUndefined();
    follower.fromBackend(parameterStatus('client_encoding', 'LATIN1'));
    follower.fromClient(parse);
    const message = Uint8Array.from(parse);
    const carried = memory.carriedUnnamed(aState({ unnamed: description }));
    expect(carried).toEqual({ message, encoding: 'LATIN1', description });
    expect(memory.carriedUnnamed(aState({ unnamed: 'refused' }))).toBeUndefined();
  });

  test('is gone with a move if its server refused it', () => {
    const { memory, follower } = following();
    memory.carries(aState({ unnamed: 'refused' }));
    follower.fromClient(parse);
    memory.carries(aState({ unnamed: { parameterTypes: [23], resultColumns: undefined } }));
    expect(Buffer.from(memory.unnamed() ?? [])).toEqual(parse);
    memory.carries(aState({ unnamed: 'refused' }));
    expect(memory.unnamed()).toBeUndefined();
  });

  test('survives the Close of another statement, and of a portal', () => {
    const { memory, follower } = following();
    follower.fromClient(
      Buffer.concat([parse, aMessage('C', Buffer.from('Snamed\0')), aMessage('C', Buffer.from('P\0'))]),
    );
    expect(Buffer.from(memory.unnamed() ?? [])).toEqual(parse);
  });

  test('survives a Close without a body, whatever comes behind it', () => {
    const { memory, follower } = following();
    follower.fromClient(parse);
    memory.watch = new StatementWatch();
    follower.fromClient(Buffer.concat([aMessage('C'), SYNC]));
    expect(Buffer.from(memory.unnamed() ?? [])).toEqual(parse);
    expect(memory.watch.effect()).toBe('clean');
  });

  test('is kept up to 16 kB, and known to be too long beyond', () => {
    const { memory, follower } = following();
    follower.fromClient(ofSize(16_384));
    expect(memory.unnamed()).toHaveLength(16_384 + 5);
    follower.fromClient(ofSize(16_385));
    expect({ unnamed: memory.unnamed(), isTooLong: memory.facts().isUnnamedTooLong }).toEqual({ isTooLong: true });
    follower.fromClient(QUERY);
    expect(memory.facts().isUnnamedTooLong).toBe(false);
  });
});

describe('the parameters', () => {
  test('as the client was told last; the news are what it does not know', () => {
    const { memory, follower } = following();
    follower.fromBackend(
      Buffer.concat([
        parameterStatus('TimeZone', 'UTC'),
        parameterStatus('in_hot_standby', 'off'),
        parameterStatus('TimeZone', 'Europe/Berlin'),
        parameterStatus('application_name', ''),
      ]),
    );
    expect([...memory.told()]).toEqual([
      ['TimeZone', 'Europe/Berlin'],
      ['in_hot_standby', 'off'],
      ['application_name', ''],
    ]);
    expect(follower.isInHotStandby()).toBe(false);
    const now = new Map([...memory.told(), ['TimeZone', 'UTC'], ['scram_iterations', '4096']]);
    const news = Buffer.from(memory.news(now));
    expect(news).toEqual(
      Buffer.concat([parameterStatus('TimeZone', 'UTC'), parameterStatus('scram_iterations', '4096')]),
    );
    follower.fromBackend(news);
    expect(memory.news(now)).toHaveLength(0);
  });

  test('keep their bytes in every encoding', () => {
    const { memory, follower } = following();
    const message = aMessage('S', Buffer.from('application_name\0\x80\xe9\x9f\0', 'latin1'));
    follower.fromBackend(message);
    expect(Buffer.from(new SessionMemory().news(memory.told()))).toEqual(message);
  });
});

test('equal parameters are one text for all sessions, after the login and after a change', () => {
  const texts = new Map<string, string>();
  const asked: string[] = [];
  const share = (text: string): string => {
    asked.push(text);
    const known = texts.get(text) ?? text;
    texts.set(text, known);
    return known;
  };
  for (let session = 0; session < 2; session += 1) {
    const memory = new SessionMemory(share);
    const follower = new SessionFollower(memory);
    // Until the login is over another part reads the parameters.
    follower.fromBackend(parameterStatus('TimeZone', 'UTC'));
    expect(memory.told().size).toBe(0);
    memory.begins(new Map([['TimeZone', 'UTC']]));
    follower.fromBackend(Buffer.concat([parameterStatus('TimeZone', 'UTC'), parameterStatus('DateStyle', 'ISO')]));
    expect([...memory.told()]).toEqual([
      ['TimeZone', 'UTC'],
      ['DateStyle', 'ISO'],
    ]);
  }
  const [login, changed] = asked;
  expect(asked).toEqual([login, changed, login, changed]);
  expect(texts.size).toBe(2);
});

test('the names of custom settings are found in both kinds of statements', () => {
  const { memory, follower } = following();
  follower.fromClient(aMessage('Q', Buffer.from('set app.one = 1\0')));
  follower.fromClient(aParse('named', "select set_config('app.two', $1, false)"));
  expect(memory.texts.names()).toEqual(['app.one', 'app.two']);
});

test('names of custom settings come with a move, too: a library may be loaded that shows none of them', () => {
  const { memory, follower } = following();
  follower.fromClient(aMessage('Q', Buffer.from('set app.one = 1\0')));
  const settings = new Map([
    ['work_mem', '1MB'],
    ['auto_explain.log_analyze', 'on'],
  ]);
  memory.carries({ ...aState(), settings, custom: new Map([['app.two', '2']]) });
  expect(memory.names()).toEqual(['app.one', 'auto_explain.log_analyze', 'app.two']);
});

test('a name far behind in a long text is found, however the text is cut', () => {
  const filler = `select '${'x'.repeat(40_000)}'`;
  for (const message of [
    aMessage('Q', Buffer.from(`${filler}; set app.far = 1\0`)),
    aParse('', `${filler}, set_config('app.far', $1, false)`),
  ]) {
    for (const size of [7, 1_000, 16_389, 16_390, 39_990, message.length]) {
      const { memory, follower } = following();
      const all = Buffer.concat([message, SYNC, aMessage('Q', Buffer.from('select 1\0'))]);
      for (let at = 0; at < all.length; at += size) follower.fromClient(all.subarray(at, at + size));
      expect(memory.texts.names()).toContain('app.far');
      expect(memory.facts().hiddenState).toBeUndefined();
    }
  }
});

test('values are no text, not even behind a text without an end', () => {
  const { memory, follower } = following();
  follower.fromClient(aMessage('Q', Buffer.from('select 1 ')));
  follower.fromClient(aMessage('B', Buffer.from(`\0\0${'x'.repeat(200)}; set app.one = 1\0`)));
  expect(memory.names()).toEqual([]);
});

function aCall(oid: number): Buffer {
  return aMessage('F', Buffer.from([0, 0, oid >> 8, oid & 255, 0, 0, 0, 0, 0, 0]));
}

function zone(name: string): Buffer {
  return parameterStatus('TimeZone', name);
}

test('a FunctionCall of set_config leaves hidden state, one of another function does not', () => {
  const { memory, follower } = following();
  follower.fromClient(aCall(952));
  expect(memory.facts().hiddenState).toBeUndefined();
  follower.fromClient(aCall(2078));
  expect(memory.facts().hiddenState).toBe('a FunctionCall of set_config');
  const seeded = following();
  seeded.follower.fromClient(aCall(1599));
  expect(seeded.memory.facts().hiddenState).toBe('a FunctionCall of setseed');
});

test('a text whose name is so long that nothing was shown of it may leave anything', () => {
  const { memory, follower } = following();
  follower.fromClient(Buffer.concat([aParse('n'.repeat(16_385), "select set_config('a.b', 'c', false)"), SYNC]));
  expect(memory.facts().hiddenState).toBe('a statement whose name is too long');
  const cut = following();
  const message = aParse('n'.repeat(20_000), "select set_config('a.b', 'c', false)");
  for (let at = 0; at < message.length; at += 6_000) cut.follower.fromClient(message.subarray(at, at + 6_000));
  expect(cut.memory.facts().hiddenState).toBe('a statement whose name is too long');
  const short = following();
  short.follower.fromClient(Buffer.concat([aParse('n'.repeat(16_384), 'select 1'), SYNC]));
  expect(short.memory.facts().hiddenState).toBeUndefined();
});

test('a session that has done nothing has no names, and answers that nobody asked for change nothing', () => {
  const { memory, follower } = following();
  follower.fromBackend(Buffer.concat([aMessage('1'), aMessage('3')]));
  expect(memory.names()).toEqual([]);
  expect(memory.facts()).toMatchObject({ isUnnamedInDoubt: false, preparedNames: [], changedReading: [] });
});

test.each([
  [999_999, true],
  [1_000_000, false],
])('a parameter of %d bytes behind a name of one is kept: %s', (size, isKept) => {
  const { memory } = following();
  memory.tells('a', 'v'.repeat(size));
  expect(memory.told().has('a')).toBe(isKept);
});

test('a parameter that changes takes no more room', () => {
  const { memory } = following();
  for (const value of ['v', 'w']) memory.tells('a', value.repeat(600_000));
  expect(memory.told().get('a')).toBe('w'.repeat(600_000));
});

test('a setting whose name is computed is hidden state', () => {
  const { memory, follower } = following();
  follower.fromClient(aMessage('Q', Buffer.from('select set_config(a, b, false) from t\0')));
  expect(memory.facts().hiddenState).toContain('set_config');
});

describe('the settings that say how literals are read', () => {
  test.each([
    ['a statement with a name', aParse('named', 'select 1')],
    ['SQL PREPARE', aMessage('Q', Buffer.from('prepare a as select 1\0'))],
  ])('count when they change after %s', (_, message) => {
    const { memory, follower } = following();
    follower.fromBackend(zone('UTC'));
    follower.fromBackend(zone('Asia/Tokyo'));
    follower.fromClient(message);
    follower.fromBackend(Buffer.concat([zone('Asia/Tokyo'), parameterStatus('application_name', 'other')]));
    follower.fromBackend(parameterStatus('application_name', 'a third one'));
    expect(memory.facts().changedReading).toEqual([]);
    follower.fromBackend(zone('UTC'));
    expect(memory.facts().changedReading).toEqual(['TimeZone']);
  });

  test('count for the unnamed statement when they change after it, as does the encoding', () => {
    const { memory, follower } = following();
    follower.fromBackend(Buffer.concat([zone('UTC'), parameterStatus('client_encoding', 'UTF8')]));
    follower.fromClient(aParse('', Buffer.from("select '\xe9'", 'latin1')));
    follower.fromBackend(parameterStatus('application_name', 'other'));
    expect(memory.facts().unsureUnnamed).toBeUndefined();
    follower.fromBackend(Buffer.concat([zone('Asia/Tokyo'), parameterStatus('client_encoding', 'LATIN1')]));
    const changedReading = ['TimeZone', 'client_encoding'];
    expect(memory.facts()).toMatchObject({
      changedReading: [],
      unsureUnnamed: { text: "select '\xe9'", changedReading },
    });
    follower.fromClient(aParse('', 'select 1'));
    expect(memory.facts().unsureUnnamed).toBeUndefined();
  });

  test('count for no unnamed statement that there is not', () => {
    const { memory, follower } = following();
    follower.fromClient(aMessage('Q', Buffer.from('set array_nulls = off\0')));
    expect(memory.facts().changedReading).toEqual(['array_nulls']);
    expect(memory.facts().unsureUnnamed).toBeUndefined();
  });

  test('do not count when the server tells them for the first time', () => {
    const { memory, follower } = following();
    follower.fromClient(aParse('named', 'select 1'));
    follower.fromBackend(zone('UTC'));
    expect(memory.facts().changedReading).toEqual([]);
  });
});
