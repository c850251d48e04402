// The bytes that end a transaction at the old server, and those that begin a failed one at the next.
import { describe, expect, test } from 'vitest';
import { FailedTransaction } from '../../../../src/wire/talk/failed-transaction.ts';
import { RollbackQuestion } from '../../../../src/wire/talk/rollback-question.ts';
import { aMessage, readyForQuery } from '../../../support/sockets/messages.ts';

const complete = (tag: string): Buffer => aMessage('C', Buffer.from(`${tag}\0`));
const error = (code: string, severity = 'ERROR'): Buffer =>
  aMessage('E', Buffer.from(`S${severity}\0V${severity}\0C${code}\0Mno\0\0`));
const RAN = [aMessage('1'), aMessage('2')];
const CLOSED = aMessage('3');
const TOLD = aMessage('S', Buffer.from('TimeZone\0UTC\0'));
const ROLLED_BACK = Buffer.concat([...RAN, complete('ROLLBACK'), TOLD, CLOSED, readyForQuery('I')]);
const STATE = { kind: 'failed', reason: 'question_failed', why: 'as it is' } as const;

/** Types of the messages, and the statements. */
function summary(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes);
  let text = '';
  for (let at = 0; at < buffer.length; at += 1 + buffer.readInt32BE(at + 1))
    text += String.fromCharCode(buffer[at] ?? 0);
  return text;
}

function aQuestion(): { question: RollbackQuestion; taken: string[] } {
  const taken: string[] = [];
  const question = new RollbackQuestion({
    start: () => Buffer.from('the question'),
    take: (chunk) => {
      taken.push(Buffer.from(chunk).toString());
      return { kind: 'done', result: STATE, toClient: Buffer.from('more') };
    },
  });
  return { question, taken };
}

describe('a rollback before a question', () => {
  test('the question is sent when no transaction is left, and the client is told what changed', () => {
    const { question, taken } = aQuestion();
    const sent = question.start();
    expect(summary(sent)).toBe('PBECS');
    expect(Buffer.from(sent).includes('ROLLBACK')).toBe(true);
    for (let at = 0; at + 1 < ROLLED_BACK.length; at += 1) {
      expect(question.take(ROLLED_BACK.subarray(at, at + 1))).toEqual({ kind: 'wait' });
    }
    const last = question.take(ROLLED_BACK.subarray(-1));
    expect(last).toEqual({ kind: 'send', bytes: Buffer.from('the question') });
    const toClient = new Uint8Array(Buffer.concat([TOLD, Buffer.from('more')]));
    expect(question.take(Buffer.from('answer'))).toEqual({ kind: 'done', result: STATE, toClient });
    expect(taken).toEqual(['answer']);
  });

  test('bytes behind the answer are the question’s', () => {
    const { question, taken } = aQuestion();
    question.start();
    expect(question.take(Buffer.concat([ROLLED_BACK, Buffer.from('news')])).kind).toBe('done');
    expect(taken).toEqual(['news']);
  });

  test('an answer to it in parts is read to its end', () => {
    const question = new RollbackQuestion({
      start: () => new Uint8Array(0),
      take: (chunk) =>
        chunk[0] === 1 ? { kind: 'wait' } : { kind: 'done', result: STATE, toClient: new Uint8Array(0) },
    });
    question.start();
    question.take(ROLLED_BACK);
    expect(question.take(Uint8Array.of(1))).toEqual({ kind: 'wait' });
    expect(question.take(Uint8Array.of(2))).toEqual({ kind: 'done', result: STATE, toClient: new Uint8Array(TOLD) });
  });

  test.each([
    ['a transaction is left', [...RAN, complete('ROLLBACK'), CLOSED, readyForQuery('T')], 'is not understood'],
    ['the rollback was cancelled', [error('57014'), readyForQuery('E')], 'no'],
    ['the server ends the session', [error('57P01', 'FATAL')], 'no'],
    ['another answer', [aMessage('D', Buffer.alloc(2))], 'is not understood'],
  ])('%s: nothing is asked, because the question would commit', (_, answer, why) => {
    const { question, taken } = aQuestion();
    question.start();
    const step = question.take(Buffer.concat(answer));
    expect(step).toMatchObject({ kind: 'done', result: { kind: 'failed', reason: 'question_failed' } });
    expect(step.kind === 'done' && step.result.kind === 'failed' && step.result.why).toContain(why);
    expect(taken).toEqual([]);
  });
});

describe('a transaction that has failed', () => {
  const BEGUN = [...RAN, complete('BEGIN'), CLOSED];

  test('is begun, fails, and leaves no statement of ours', () => {
    const failing = new FailedTransaction();
    const sent = failing.start();
    expect(summary(sent)).toBe('PBECDS');
    expect(Buffer.from(sent).includes('\0BEGIN\0')).toBe(true);
    const answer = Buffer.concat([...BEGUN, TOLD, error('26000'), readyForQuery('E'), Buffer.from('news')]);
    expect(failing.take(answer.subarray(0, 5))).toEqual({ kind: 'wait' });
    expect(failing.take(answer.subarray(5))).toEqual({
      kind: 'done',
      error: undefined,
      parameters: new Map([['TimeZone', 'UTC']]),
      rest: new Uint8Array(Buffer.from('news')),
    });
  });

  test.each([
    ['it did not fail', [...BEGUN, aMessage('t', Buffer.alloc(2)), aMessage('n'), readyForQuery('T')], ''],
    ['another answer', [...BEGUN, aMessage('2')], ''],
    ['it did not begin, for the same reason', [aMessage('1'), error('26000'), readyForQuery('I')], '26000'],
    ['the server ends the session for the same reason', [aMessage('1'), error('26000', 'FATAL')], '26000'],
    ['it did not begin', [error('25006'), readyForQuery('I')], '25006'],
    ['it is no transaction', [...BEGUN, error('26000'), readyForQuery('I')], '26000'],
    ['it failed for another reason', [...BEGUN, error('57014'), readyForQuery('E')], '57014'],
    ['the server ends the session', [...BEGUN, error('57P01', 'FATAL')], '57P01'],
  ])('%s: the session must not go on', (_, answer, sqlState) => {
    const failing = new FailedTransaction();
    failing.start();
    const message = sqlState === '' ? 'the answer is not understood' : 'no';
    expect(failing.take(Buffer.concat(answer))).toMatchObject({ kind: 'done', error: { sqlState, message } });
  });
});
