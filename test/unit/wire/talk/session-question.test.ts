// The end of a question that is no answer: what the client may read of it.
import { expect, test } from 'vitest';
import { SessionQuestion } from '../../../../src/wire/talk/session-question.ts';
import {
  COMMAND_COMPLETE,
  aMessage,
  errorOf,
  parameterStatus,
  readyForQuery,
} from '../../../support/sockets/messages.ts';

const NEWS = aMessage('A', Buffer.from('\0\0\0\x01channel\0\0'));
const GOODBYE = errorOf(['SFATAL', 'VFATAL', 'C57P01', 'Mterminating connection']);

test.each([
  [
    'an answer that is not understood',
    [COMMAND_COMPLETE, aMessage('1'), readyForQuery('I')],
    [],
    'the answer is not understood',
  ],
  ['last words', [GOODBYE], [GOODBYE], '57P01 terminating connection'],
])('the client reads news, and of %s no more than is meant for it', (_, said, expected, why) => {
  const named = { version: '', names: [], unclear: [] };
  const question = new SessionQuestion({
    serverMajor: 16,
    customNames: [],
    named,
    maxStateBytes: 1_000,
    unnamedText: undefined,
  });
  question.start();
  const changed = parameterStatus('TimeZone', 'UTC');
  const step = question.take(Buffer.concat([NEWS, changed, ...said]));
  expect(step).toMatchObject({ kind: 'done', result: { kind: 'over', why } });
  if (step.kind === 'done') expect(Buffer.from(step.toClient)).toEqual(Buffer.concat([NEWS, changed, ...expected]));
});
