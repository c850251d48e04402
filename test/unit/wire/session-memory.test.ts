import { describe, expect, test } from 'vitest';
import { SessionFollower } from '../../../src/wire/session-follower.ts';
import { SessionMemory } from '../../../src/wire/session-memory.ts';
import { BIND, QUERY, SYNC, aMessage, parameterStatus } from '../../support/sockets/messages.ts';
import { aParse } from '../../support/sockets/wire-client.ts';

function following() {
  const memory = new SessionMemory();
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

  test('survives the Close of another statement, and of a portal', () => {
    const { memory, follower } = following();
    follower.fromClient(
      Buffer.concat([parse, aMessage('C', Buffer.from('Snamed\0')), aMessage('C', Buffer.from('P\0'))]),
    );
    expect(Buffer.from(memory.unnamed() ?? [])).toEqual(parse);
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

test('the names of custom settings are found in both kinds of statements', () => {
  const { memory, follower } = following();
  follower.fromClient(aMessage('Q', Buffer.from('set app.one = 1\0')));
  follower.fromClient(aParse('named', "select set_config('app.two', $1, false)"));
  expect(memory.texts.names()).toEqual(['app.one', 'app.two']);
});
