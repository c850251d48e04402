// A question behind a Sync of ours: the client hears nothing of it, but all that the server says without a request.
import { expect, test } from 'vitest';
import { AfterSync } from '../../../../src/proxy/moves/after-sync.ts';
import type { Question } from '../../../../src/proxy/moves/question-channel.ts';
import { aMessage, errorOf, parameterStatus, readyForQuery } from '../../../support/sockets/messages.ts';

const READY = readyForQuery('I');
const TIMEOUT = errorOf(['SERROR', 'VERROR', 'C57014', 'Mcanceling statement due to statement timeout']);
const GOODBYE = errorOf(['SFATAL', 'VFATAL', 'C57P01', 'Mterminating connection']);
const ZONE = parameterStatus('TimeZone', 'UTC');
const NEWS = aMessage('A', Buffer.from('\0\0\0\x01channel\0\0'));
const NOTICE = errorOf(['SNOTICE', 'C00000', 'Mx'], 'N');
const ANSWER = aMessage('1');

/** Its result is what it has read up to `ANSWER` and its ReadyForQuery, or up to a fatal error. */
class Reading implements Question<string> {
  #read = Buffer.alloc(0);

  start(): Uint8Array {
    return Buffer.from('question');
  }

  take(chunk: Uint8Array): ReturnType<Question<string>['take']> {
    this.#read = Buffer.concat([this.#read, chunk]);
    const isOver = this.#read.includes(Buffer.concat([ANSWER, READY])) || this.#read.includes(GOODBYE);
    if (!isOver) return { kind: 'wait' };
    return { kind: 'done', result: this.#read.toString('latin1'), toClient: Buffer.from('late') };
  }
}

interface Read {
  readonly result: string;
  readonly toClient: string;
}

function readIn(chunks: readonly Uint8Array[]): Read {
  const question = new AfterSync(new Reading());
  for (const [index, chunk] of chunks.entries()) {
    const step = question.take(chunk);
    if (step.kind !== 'done') continue;
    expect(index).toBe(chunks.length - 1);
    return { result: step.result, toClient: Buffer.from(step.toClient).toString('latin1') };
  }
  throw new Error('no end');
}

test('it begins with the Sync', () => {
  const bytes = Buffer.from(new AfterSync(new Reading()).start());
  expect(bytes).toEqual(Buffer.concat([aMessage('S'), Buffer.from('question')]));
});

test.each<[string, readonly Uint8Array[], readonly Uint8Array[], readonly Uint8Array[]]>([
  ['nothing else', [READY], [], [ANSWER, READY]],
  ['news', [ZONE, NEWS, NOTICE, READY, NEWS], [ZONE, NEWS, NOTICE, NEWS], [ANSWER, READY]],
  ['a limit that was over before', [NOTICE, TIMEOUT, READY], [NOTICE], [ANSWER, READY]],
  ['a limit that the server has told by itself', [TIMEOUT, READY, READY], [], [ANSWER, READY]],
  ['an error of the question', [READY], [], [TIMEOUT, ANSWER, READY]],
  ['last words', [NEWS], [NEWS], [GOODBYE]],
  ['last words behind its answer', [READY], [], [GOODBYE]],
])('the server says before the answer: %s', (_, before, toClient, rest) => {
  const bytes = Buffer.concat([...before, ...rest]);
  const expected = {
    result: Buffer.concat(rest).toString('latin1'),
    toClient: `${Buffer.concat(toClient).toString('latin1')}late`,
  };
  expect(readIn([bytes])).toEqual(expected);
  expect(readIn(Array.from(bytes, (byte) => Uint8Array.of(byte)))).toEqual(expected);
});

test('a server that says more than a session may keep is read by the question, which ends the session', () => {
  const question = new AfterSync(new Reading());
  const long = aMessage('N', Buffer.alloc(30_000));
  for (let left = 40; left > 0; left -= 1) question.take(long);
  const step = question.take(GOODBYE);
  if (step.kind !== 'done') throw new Error('no end');
  expect(step.result.length).toBe(7 * long.length + GOODBYE.length);
});

test('short messages count with their place in memory', () => {
  const question = new AfterSync(new Reading());
  question.take(Buffer.concat(Array.from({ length: 20_000 }, () => aMessage('N'))));
  const step = question.take(GOODBYE);
  if (step.kind !== 'done') throw new Error('no end');
  expect(step.toClient.length).toBeLessThan(10_000 * aMessage('N').length);
});

test('bytes that are no protocol are the question’s to judge', () => {
  const invalid = Buffer.of(0x5a, 0xff, 0xff, 0xff, 0xff);
  expect(readIn([NEWS, invalid, GOODBYE])).toEqual({
    result: Buffer.concat([invalid, GOODBYE]).toString('latin1'),
    toClient: `${NEWS.toString('latin1')}late`,
  });
});

test('so is what follows the header of a message that is too long', () => {
  const header = aMessage('N', Buffer.alloc(1_000_001)).subarray(0, 5);
  expect(readIn([header, GOODBYE]).result).toBe(GOODBYE.toString('latin1'));
});
