// The question for the WAL on a session's next connection. Real servers answer in test/integration/wire/.
import { describe, expect, test } from 'vitest';
import { WalQuestion } from '../../../../src/wire/talk/wal-question.ts';
import { aMessage, COMMAND_COMPLETE, errorOf, parameterStatus } from '../../../support/sockets/messages.ts';
import { StatementServer, type Refusal } from './statement-server.ts';

const REPLAYED = JSON.stringify({ replayed: '5000', ended: '740', below: '751' });
const TOLD = parameterStatus('TimeZone', 'UTC');
const BEHIND = parameterStatus('application_name', 'x');

interface Quirks {
  readonly value?: string | null;
  readonly refuses?: Refusal & { readonly sql: RegExp; readonly times: number };
}

function ask({ value = REPLAYED, refuses }: Quirks = {}, serverMajor = 18) {
  let refused = 0;
  const server = new StatementServer({
    run: (sql) => {
      if (refuses !== undefined && refuses.sql.test(sql) && refused < refuses.times) {
        refused += 1;
        return refuses;
      }
      return sql.includes('pg_is_in_recovery') ? [[value]] : [];
    },
  });
  const question = new WalQuestion(serverMajor);
  let bytes = question.start();
  for (let tries = 1; tries <= 30; tries += 1) {
    const answer = Buffer.concat([TOLD, server.take(bytes), BEHIND]);
    const last = answer.length - BEHIND.length - 1;
    for (let at = 0; at < last; at += 1) {
      const { kind } = question.take(answer.subarray(at, at + 1));
      if (kind !== 'wait') expect.fail(`${kind} behind ${at} bytes`);
    }
    const step = question.take(answer.subarray(last));
    if (step.kind === 'done') return { ...step, rest: Buffer.from(step.rest), log: server.log, tries };
    if (step.kind !== 'send') throw new Error('it waits for ever');
    ({ bytes } = step);
  }
  throw new Error('it asks without end');
}

const cut = (times: number): Quirks => ({
  refuses: { sql: /SET LOCAL lock_timeout/, sqlState: '57014', message: 'canceled', times },
});

test('the answer, what the server has told meanwhile, and the bytes behind it', () => {
  const { result, parameters, rest, log } = ask();
  const transactions = { allEndedBelow: 740, allVisibleBelow: 751 };
  expect(result).toMatchObject({ wal: { kind: 'standby', replayed: 5000, transactions }, sqlState: undefined });
  expect([...parameters]).toEqual([['TimeZone', 'UTC']]);
  expect(rest).toEqual(BEHIND);
  expect(log).toContain('E SET LOCAL transaction_timeout = 0');
  expect(ask({}, 16).log).not.toContain('E SET LOCAL transaction_timeout = 0');
});

describe('no answer', () => {
  test.each([null, 'x'])('that is understood: %s', (value) => {
    expect(ask({ value }).result).toEqual({
      wal: undefined,
      sqlState: undefined,
      why: 'the answer is not understood',
    });
  });

  test('but an error', () => {
    const { result, tries } = ask({ refuses: { sql: /recovery/, sqlState: '42501', message: 'no', times: 1 } });
    expect({ result, tries }).toEqual({ result: { wal: undefined, sqlState: '42501', why: '42501 no' }, tries: 1 });
  });

  test('from a server that ends the session: its last words are the rest', () => {
    const question = new WalQuestion(18);
    question.start();
    const goodbye = errorOf(['SFATAL', 'VFATAL', 'C57P01', 'Mgone']);
    const step = question.take(goodbye);
    expect(step).toMatchObject({ kind: 'done', result: { wal: undefined, sqlState: '57P01', why: '57P01 gone' } });
    expect(step.kind === 'done' && Buffer.from(step.rest)).toEqual(goodbye);
    const other = new WalQuestion(18);
    other.start();
    expect(other.take(Buffer.from('HTTP/1.1 400'))).toMatchObject({ result: { wal: undefined, sqlState: undefined } });
  });
});

test('an answer counts with the end of its transaction alone', () => {
  const refuses = { sql: /^COMMIT$/, sqlState: '40001', message: 'no', times: 1 };
  expect(ask({ refuses }).result).toEqual({ wal: undefined, sqlState: '40001', why: '40001 no' });
  const server = new StatementServer({ run: (sql) => (sql.includes('pg_is_in_recovery') ? [[REPLAYED]] : []) });
  const question = new WalQuestion(18);
  const answer = server.take(question.start());
  const upToRow = answer.subarray(0, answer.indexOf(REPLAYED) + REPLAYED.length);
  expect(question.take(Buffer.concat([upToRow, COMMAND_COMPLETE, aMessage('3')]))).toEqual({ kind: 'wait' });
  expect(question.take(aMessage('!'))).toMatchObject({ kind: 'done', result: { wal: undefined } });
});

test('a server whose bytes make no sense behind the limit is not asked again', () => {
  const question = new WalQuestion(18);
  question.start();
  const limit = errorOf(['SERROR', 'VERROR', 'C57014', 'Mcanceled']);
  const step = question.take(Buffer.concat([aMessage('1'), aMessage('2'), limit, aMessage('!')]));
  expect(step).toMatchObject({ kind: 'done', result: { wal: undefined, sqlState: '57014' } });
});

test('a limit of the session that ends our guard: it is asked again, twenty times at most', () => {
  expect(ask(cut(1))).toMatchObject({ result: { wal: { replayed: 5000 } }, tries: 2 });
  expect(ask(cut(1)).log).toContain('E ROLLBACK');
  expect(ask(cut(1)).parameters.get('application_name')).toBe('x');
  expect(ask(cut(19))).toMatchObject({ result: { wal: { replayed: 5000 } }, tries: 20 });
  expect(ask(cut(99))).toMatchObject({ result: { wal: undefined, sqlState: '57014' }, tries: 20 });
});
