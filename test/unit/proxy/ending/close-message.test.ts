import { expect, test } from 'vitest';
import { closeMessage } from '../../../../src/proxy/ending/close-message.ts';
import type { EndReason } from '../../../../src/model/close-reason.ts';

test.each<[EndReason, string, string]>([
  ['evicted_demoted', '57P01', 'the session\'s member left pool "write"'],
  ['landed_on_standby', '57P03', 'the member of pool "write" turned out to be a standby'],
  ['too_old', '57P01', 'the session has reached the age at which pool "write" ends sessions'],
  ['shutdown', '57P01', 'the proxy is shutting down'],
])('%s has its SQLSTATE, its own word, the detail and a hint', (reason, sqlState, sentence) => {
  expect(closeMessage(reason, 'write', 'why')).toEqual({
    sqlState,
    message: `pointsman: ${sentence} (${reason})`,
    detail: 'why',
    hint: expect.stringMatching(/^No transaction was open\. Connect /),
  });
});
