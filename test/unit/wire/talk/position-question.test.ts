// Questions for positions, and the answers of a server that is played by hand. Real servers: integration/positions.
import { describe, expect, test } from 'vitest';
import { PositionTalk } from '../../../../src/wire/talk/position-question.ts';
import {
  aMessage,
  aNumber,
  COMMAND_COMPLETE,
  errorOf,
  parameterStatus,
  readyForQuery,
} from '../../../support/sockets/messages.ts';
import { StatementServer } from './statement-server.ts';

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

  test.each(['position', 'nudge'] as const)('%s is one small packet: bind, run, and the end', (name) => {
    const size = String.fromCharCode(`\0pointsman_${name}\0`.length + 4 + 6);
    const bind = `B\0\0\0${size}\0pointsman_${name}\0\0\0\0\0\0\0`;
    const packet = Buffer.from(new PositionTalk().ask(name)).toString('latin1');
    expect(packet).toBe(`${bind}E\0\0\0\x09\0\0\0\0\0S\0\0\0\x04`);
  });

  test.each(['7301 8192', 'x7301 8192 16777216', '7301 8192 16777216x', ''])(
    'a server that tells of itself %j is no server',
    (value) => {
      const talk = new PositionTalk();
      talk.prepare(18);
      expect(talk.take(answer(value))).toEqual({ kind: 'over', why: 'the answer of the server is not understood' });
    },
  );

  test('replies without a value are passed over, and news of the server', () => {
    const talk = prepared();
    talk.ask('position');
    const [parsed, bound, news] = [aMessage('1'), aMessage('2'), aMessage('A')];
    const told = [errorOf(['SNOTICE', 'Mx'], 'N'), parameterStatus('TimeZone', 'UTC'), news];
    const replies = [parsed, bound, ...told, rowOf('standby 0/A0'), COMMAND_COMPLETE, readyForQuery('I')];
    expect(talk.take(Buffer.concat(replies))).toEqual({ kind: 'standby', replayed: 0xa0 });
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
    ['another role with positions', answer('leader 0/1 000000050000000000000002 0/1')],
    ['a primary without a flush', answer('primary  000000050000000000000002 0/1')],
    ['a primary without an end', answer('primary 0/1 000000050000000000000002')],
    ['half a row', Buffer.concat([aMessage('D', Buffer.from([0, 1])), readyForQuery('I')])],
    ['a NULL', Buffer.concat([aMessage('D', Buffer.concat([Buffer.from([0, 1]), aNumber(-1)])), readyForQuery('I')])],
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

/** The statements that a server of that version prepares and executes. */
function ran(serverMajor: number): readonly string[] {
  const server = new StatementServer({ run: () => [] });
  const talk = new PositionTalk();
  for (const bytes of [talk.prepare(serverMajor), talk.ask('position'), talk.ask('nudge')]) server.take(bytes);
  return server.log.map((line) => line.replace(/\s+/g, ' '));
}

test('the statements are prepared once, and a question executes one of them', () => {
  const position = expect.stringMatching(/^E SELECT CASE WHEN pg_catalog.pg_is_in_recovery/);
  const nudge = "E SELECT pg_catalog.pg_logical_emit_message(false, 'pointsman', ''::text, true)";
  expect(ran(17)).toEqual([
    'P : SET idle_session_timeout = 0',
    'E SET idle_session_timeout = 0',
    expect.stringMatching(/^P pointsman_position: SELECT CASE/),
    `P pointsman_nudge: ${nudge.slice(2)}`,
    expect.stringMatching(/^P : SELECT .* FROM pg_catalog.pg_control_system/),
    expect.stringMatching(/^E SELECT .* FROM pg_catalog.pg_control_system/),
    'S',
    position,
    'S',
    nudge,
    'S',
  ]);
});

test('a server of an older version has other ways to flush, and no limit of idle time', () => {
  const flush = "E SELECT pg_catalog.pg_logical_emit_message(true, 'pointsman', ''::text)";
  expect(ran(16)).toContain(flush);
  expect(ran(14)).toContain('E SET idle_session_timeout = 0');
  expect(ran(13)).toContain(flush);
  expect(ran(13).join()).not.toContain('idle_session_timeout');
});
