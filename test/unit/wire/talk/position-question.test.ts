// Questions for positions, and the answers of a server that is played by hand. Real servers: integration/positions.
import { describe, expect, test } from 'vitest';
import { PositionTalk } from '../../../../src/wire/talk/position-question.ts';
import { aMessage, aNumber, errorOf, readyForQuery } from '../../../support/sockets/messages.ts';

function rowOf(value: string): Buffer {
  const text = Buffer.from(value);
  return aMessage('D', Buffer.concat([Buffer.from([0, 1]), aNumber(text.length), text]));
}

const answer = (value: string): Buffer => Buffer.concat([rowOf(value), readyForQuery('I')]);
const FATAL = errorOf(['SFATAL', 'VFATAL', 'C57P01', 'Mterminating']);

function prepared(): PositionTalk {
  const talk = new PositionTalk();
  talk.prepare(18);
  expect(talk.take(answer('7301 8192 16777216'))).toEqual({ kind: 'prepared', systemIdentifier: '7301' });
  return talk;
}

describe('a question for positions', () => {
  test.each([
    ['primary 0/2000028 000000050000000000000002 0/2000060', 5, 0x2000028, 0x2000060],
    // Behind the header of a segment, and of a page, that is empty so far.
    ['primary 0/2000000 000000050000000000000002 0/3000028', 5, 0x2000000, 0x3000000],
    ['primary 0/2000000 000000050000000000000002 0/2002018', 5, 0x2000000, 0x2002000],
  ])('%s', (value, timeline, flushed, written) => {
    const talk = prepared();
    talk.ask('position');
    expect(talk.take(answer(value))).toEqual({ kind: 'primary', timeline, written, flushed });
  });

  test('a standby, one that has replayed nothing, and a nudge', () => {
    const talk = prepared();
    talk.ask('position');
    expect(talk.take(answer('standby 1/10'))).toEqual({ kind: 'standby', replayed: 2 ** 32 + 16 });
    talk.ask('position');
    expect(talk.take(answer('standby '))).toEqual({ kind: 'standby', replayed: 0 });
    talk.ask('nudge');
    expect(talk.take(answer('1/20'))).toEqual({ kind: 'nudged' });
  });

  test('an answer may come in pieces', () => {
    const talk = prepared();
    talk.ask('position');
    const bytes = answer('standby 0/A0');
    for (const byte of bytes.subarray(0, -1)) expect(talk.take(Uint8Array.of(byte))).toBeUndefined();
    expect(talk.take(bytes.subarray(-1))).toEqual({ kind: 'standby', replayed: 0xa0 });
  });

  test('an error is that of one question', () => {
    const talk = prepared();
    talk.ask('position');
    expect(
      talk.take(Buffer.concat([errorOf(['SERROR', 'VERROR', 'C57014', 'Mtoo slow']), readyForQuery('I')])),
    ).toEqual({
      kind: 'refused',
      why: 'too slow (57014)',
    });
    talk.ask('position');
    expect(talk.take(answer('standby 0/A0'))).toEqual({ kind: 'standby', replayed: 0xa0 });
  });

  test.each([
    ['a word that is not known', answer('unknown 0/1')],
    ['a position that is none', answer('standby x')],
    ['a primary without a timeline', answer('primary 0/1 x 0/1')],
    ['no row', readyForQuery('I')],
    ['a transaction', Buffer.concat([rowOf('standby 0/1'), readyForQuery('T')])],
    ['a message that is not due', aMessage('G', Buffer.alloc(3))],
    ['no message', Buffer.from('HTTP/1.1 400 Bad Request')],
    ['a message that is too long', aMessage('D', Buffer.alloc(20_000))],
  ])('%s ends the connection', (_, bytes) => {
    const talk = prepared();
    talk.ask('position');
    expect(talk.take(bytes)).toEqual({ kind: 'over', why: 'the answer of the server is not understood' });
  });

  test('the end of the server, and an answer without a question, end it, too', () => {
    expect(prepared().take(FATAL)).toEqual({ kind: 'over', why: 'terminating (57P01)' });
    expect(prepared().take(answer('standby 0/1'))).toMatchObject({ kind: 'over' });
    const unprepared = new PositionTalk();
    unprepared.prepare(13);
    expect(
      unprepared.take(Buffer.concat([errorOf(['SERROR', 'VERROR', 'C42501', 'Mdenied']), readyForQuery('I')])),
    ).toEqual({
      kind: 'over',
      why: 'denied (42501)',
    });
  });
});
