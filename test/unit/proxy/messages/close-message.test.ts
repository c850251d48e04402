import { expect, test } from 'vitest';
import { closeMessage } from '../../../../src/proxy/messages/close-message.ts';
import type { EndFacts } from '../../../../src/proxy/messages/close-message.ts';
import type { EndReason } from '../../../../src/model/close-reason.ts';

test.each<[EndReason, string, string]>([
  ['evicted_demoted', '57P01', 'terminating connection: the server is no longer the primary'],
  ['landed_on_standby', '57P03', 'the server of pool "write" is a standby'],
  ['move_login', '57P01', 'terminating connection: the next server did not let the session in'],
  ['move_timeout', '57P01', 'terminating connection: no next server in time'],
  ['too_old', '57P01', 'terminating connection: maximum session age of pool "write" reached'],
  ['shutdown', '57P01', 'the proxy is shutting down'],
])('%s has its SQLSTATE, its own code, the detail and a hint', (reason, sqlState, sentence) => {
  expect(closeMessage(reason, { pool: 'write', detail: 'why', activity: 'idle' })).toEqual({
    sqlState,
    message: `pointsman: ${sentence} (${reason})`,
    detail: 'why',
    hint: expect.stringMatching(/^No transaction was open\. Connect /),
  });
});

test.each<[EndFacts['activity'], string]>([
  ['starting', 'The session had not started.'],
  ['idle', 'No transaction was open.'],
  ['in_transaction', 'The open transaction is rolled back.'],
  ['in_failed_transaction', 'The open transaction is rolled back.'],
  ['busy', 'A statement or transaction was in progress. Check whether it took effect before you repeat it.'],
])('an operator ends a session that is %s: the hint says what that means', (activity, text) => {
  expect(closeMessage('killed_by_operator', { pool: 'write', detail: undefined, activity })).toEqual({
    sqlState: '57P01',
    message: 'pointsman: terminating connection: an operator ended the session (killed_by_operator)',
    detail: undefined,
    hint: text,
  });
});
