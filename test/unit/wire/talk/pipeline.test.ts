// Requests of our own, byte by byte, and the replies of a server that is played by hand.
import { describe, expect, test } from 'vitest';
import { Pipeline, refusesUnnamed, timeLimits, type PipelineEnd } from '../../../../src/wire/talk/pipeline.ts';
import type { Row } from '../../../../src/wire/talk/server-replies.ts';
import {
  aMessage,
  COMMAND_COMPLETE,
  DATA_ROW,
  errorOf,
  PARSE,
  parameterStatus,
  readyForQuery,
} from '../../../support/sockets/messages.ts';

/** Type and body of each message, NULs as dots. */
function written(pipeline: Pipeline): readonly string[] {
  const bytes = Buffer.from(pipeline.send());
  const said: string[] = [];
  for (let at = 0; at < bytes.length; at += 1 + bytes.readInt32BE(at + 1)) {
    const body = bytes.toString('latin1', at + 5, at + 1 + bytes.readInt32BE(at + 1));
    said.push(`${bytes.toString('latin1', at, at + 1)} ${body.replaceAll('\0', '.')}`);
  }
  return said;
}

const ready = readyForQuery('I');
const error = (sqlState: string, severity = 'ERROR'): Buffer =>
  errorOf([`S${severity}`, `V${severity}`, `C${sqlState}`, 'Mno']);
const [PARSED, BOUND, CLOSED] = [aMessage('1'), aMessage('2'), aMessage('3')];
const RAN = Buffer.concat([PARSED, BOUND, COMMAND_COMPLETE, CLOSED]);

function aPipeline(longest = 1_000): Pipeline {
  return new Pipeline(longest, () => {});
}

function answered(pipeline: Pipeline, ...replies: readonly Uint8Array[]): PipelineEnd | undefined {
  pipeline.send();
  return pipeline.take(Buffer.concat(replies));
}

test('a statement has a name of ours, which it gives back; values are texts', () => {
  expect(written(aPipeline().run('a', 'select $1', ['x']).commit())).toEqual([
    'P _pointsman.select $1...',
    'B ._pointsman....\x01...\x01x..',
    'E .....',
    'C S_pointsman.',
    'P _pointsman.COMMIT...',
    'B ._pointsman.......',
    'E .....',
    'C S_pointsman.',
    'S ',
  ]);
  expect(
    written(
      aPipeline()
        .prepare('a', 's1', 'select 1', [23])
        .describe('a', 's1', () => {}),
    ),
  ).toEqual(['P s1.select 1..\x01...\x17', 'D Ss1.']);
});

test('the unnamed statement is parsed as its client did, or with the types that it had', () => {
  expect(written(aPipeline().parseAgain(PARSE))).toEqual(['P .select 1...']);
  expect(written(aPipeline().parseAgain(PARSE, [23]))).toEqual(['P .select 1..\x01...\x17']);
});

test('only PostgreSQL 17 and later have a limit for transactions', () => {
  expect(timeLimits(16)).toEqual(['lock_timeout', 'statement_timeout']);
  expect(timeLimits(17)).toEqual(['lock_timeout', 'statement_timeout', 'transaction_timeout']);
});

test('rows are for those who ask, in any pieces; an empty statement has none', () => {
  const rows: Row[] = [];
  const pipeline = aPipeline()
    .run('a', 'select 1')
    .run('b', 'select 1', [], (row) => rows.push(row))
    .run('c', '')
    .sync();
  pipeline.send();
  const ran = Buffer.concat([PARSED, BOUND, DATA_ROW, COMMAND_COMPLETE, CLOSED]);
  const bytes = Buffer.concat([ran, ran, PARSED, BOUND, aMessage('I'), CLOSED, ready, Buffer.from('rest')]);
  const last = bytes.length - 'rest'.length - 1;
  for (let at = 0; at < last; at += 1) expect(pipeline.take(bytes.subarray(at, at + 1))).toBeUndefined();
  expect(pipeline.take(bytes.subarray(last))).toEqual({ kind: 'ready', error: undefined });
  expect(rows).toEqual([['1']]);
  expect(Buffer.from(pipeline.rest()).toString()).toBe('rest');
});

const begun = (): Pipeline =>
  aPipeline()
    .run('a', 'select 1')
    .describe('b', 's1', () => {})
    .sync();

describe('a reply that is not due ends the session:', () => {
  test.each<[string, readonly Uint8Array[]]>([
    ['a row before its statement', [DATA_ROW]],
    ['a row behind its statement', [PARSED, BOUND, COMMAND_COMPLETE, DATA_ROW]],
    ['types of nothing', [aMessage('t', Buffer.from([0, 0]))]],
    ['no rows of nothing', [aMessage('n')]],
    ['no rows in place of rows', [PARSED, BOUND, aMessage('n')]],
    ['an empty statement before it ran', [aMessage('I')]],
    ['an empty statement for a description', [RAN, aMessage('I')]],
    ['an end for a description', [RAN, COMMAND_COMPLETE]],
    ['a message that is none', [aMessage('?')]],
    ['a length that is none', [Buffer.from('1\0\0\0\x03')]],
    ['a parameter without a value', [aMessage('S', Buffer.from('name\0'))]],
    ['a parameter that is too long', [parameterStatus('name', 'x'.repeat(1_000))]],
    ['an open transaction', [RAN, aMessage('n'), readyForQuery('T')]],
    ['a failed one without an error', [RAN, aMessage('n'), readyForQuery('E')]],
    ['an open one behind an error', [error('42601'), readyForQuery('T')]],
    ['a state that is too long', [RAN, aMessage('n'), aMessage('Z', Buffer.alloc(2_000))]],
  ])('%s', (_, replies) => {
    expect(answered(begun(), ...replies, aMessage('1'))).toMatchObject({ kind: 'over' });
  });

  test.each<[string, readonly Uint8Array[]]>([
    ['no rows for an end', [PARSED, BOUND, aMessage('n'), CLOSED, aMessage('n')]],
    ['an empty statement for its parse', [aMessage('I'), BOUND, COMMAND_COMPLETE, CLOSED, aMessage('n')]],
    ['an end for no rows', [RAN, COMMAND_COMPLETE]],
  ])('%s, though all others are', (_, replies) => {
    expect(answered(begun(), ...replies, ready)).toMatchObject({ kind: 'over' });
    expect(answered(begun(), RAN, aMessage('n'), ready)).toMatchObject({ kind: 'ready' });
  });

  test('the last words of the server are for its client, too', () => {
    const fatal = error('57P01', 'FATAL');
    const pipeline = begun();
    const end = answered(pipeline, PARSED, fatal, Buffer.from('x'));
    expect(end).toMatchObject({ kind: 'over', error: { sqlState: '57P01', isFatal: true } });
    expect(Buffer.from(pipeline.rest())).toEqual(Buffer.concat([fatal, Buffer.from('x')]));
  });
});

/** The requests that clean up after an error. */
const cleaned = (...replies: readonly Uint8Array[]): readonly string[] => {
  const pipeline = aPipeline().run('a', 'select 1').commit();
  expect(answered(pipeline, ...replies)).toMatchObject({ kind: 'ready', error: { request: 'a' } });
  const types = written(aPipeline().cleanUpAfter(pipeline)).map((line) => line.slice(0, 14));
  expect(pipeline.isUnclean()).toBe(types.length > 0);
  return types;
};

describe('after an error', () => {
  test('only what it has left is ended: our statement, our transaction', () => {
    const rollback = ['P _pointsman.R', 'B ._pointsman.', 'E .....', 'C S_pointsman.'];
    expect(cleaned(error('42601'), ready)).toEqual([]);
    expect(cleaned(PARSED, error('42601'), ready)).toEqual(['C S_pointsman.']);
    expect(cleaned(error('42601'), readyForQuery('E'))).toEqual(rollback);
    expect(cleaned(PARSED, BOUND, error('42601'), readyForQuery('E'))).toEqual(['C S_pointsman.', ...rollback]);
    expect(aPipeline().isUnclean()).toBe(false);
  });

  test('it is that of the first request that failed, and the replies until the end are skipped', () => {
    const pipeline = aPipeline().run('a', 'select 1').sync().run('b', 'select 2').commit();
    const replies = [PARSED, error('42601'), ready, error('42P05'), ready];
    expect(answered(pipeline, ...replies)).toMatchObject({ kind: 'ready', error: { request: 'a', sqlState: '42601' } });
  });

  test('the end has a name, too', () => {
    const failed = aPipeline().run('a', 'select 1').commit();
    answered(failed, error('42601'), readyForQuery('E'));
    const ends: readonly (readonly [Pipeline, readonly Uint8Array[]])[] = [
      [aPipeline().commit(), []],
      [aPipeline().sync(), []],
      [aPipeline().close('s1').sync(), []],
      [aPipeline().cleanUpAfter(failed).sync(), []],
    ];
    for (const [pipeline, before] of ends) {
      expect(answered(pipeline, ...before, error('XX000'), ready)).toMatchObject({ error: { request: 'the end' } });
    }
  });

  test.each([
    ['57014', 'guard', true],
    ['57014', 'a', false],
    ['42501', 'guard', false],
  ])('%s of the request %s may pass: %s', (sqlState, request, expected) => {
    const pipeline = aPipeline().run(request, 'BEGIN').commit();
    answered(pipeline, error(sqlState), ready);
    expect(pipeline.isCutShort()).toBe(expected);
  });
});

test.each([
  ['42P01', 'the unnamed statement', true],
  ['42P01', 'the statement s1', false],
  // string_data_length_mismatch
  ['22026', 'the unnamed statement', false],
])('%s of %s: the unnamed statement is refused: %s', (sqlState, request, expected) => {
  expect(refusesUnnamed({ sqlState, request, message: '', isFatal: false })).toBe(expected);
});

test('changed parameters and notifications are told, notices are not', () => {
  const told: string[] = [];
  const pipeline = new Pipeline(
    1_000,
    (name, value, message) => told.push(`${name}=${value} ${message.length}`),
    (message) => told.push(Buffer.from(message).toString('latin1', 0, 1)),
  ).sync();
  const changed = parameterStatus('TimeZone', 'UTC');
  expect(answered(pipeline, changed, errorOf(['SNOTICE', 'Mx'], 'N'), aMessage('A', Buffer.alloc(6)), ready)).toEqual({
    kind: 'ready',
    error: undefined,
  });
  expect(told).toEqual([`TimeZone=UTC ${changed.length}`, 'A']);
});

function told(count: number, size: number): { readonly kept: number; readonly end: string | undefined } {
  let kept = 0;
  const note = (): void => void (kept += 1);
  const pipeline = new Pipeline(1_000, () => {}, note).sync();
  pipeline.send();
  const one = aMessage('A', Buffer.alloc(size));
  const end = pipeline.take(Buffer.concat([...Array.from({ length: count }, () => one), readyForQuery('I')]));
  return { kept, end: end?.kind };
}

test('many notifications arrive while a client listens', () => {
  expect(told(20_000, 50)).toEqual({ kept: 20_000, end: 'ready' });
  expect(told(4_000, 895)).toEqual({ kept: 4_000, end: 'ready' });
  expect(told(4_001, 895).end).toBe('over');
});

test.each([
  ['bytes', 5_000, 900],
  // Each takes memory of its own, some 100 bytes of it.
  ['messages, however short', 200_000, 0],
])('a server that says too much ends the session: %s', (_, count, size) => {
  const { kept, end } = told(count, size);
  expect(end).toBe('over');
  expect(kept).toBeLessThan(40_000);
});
