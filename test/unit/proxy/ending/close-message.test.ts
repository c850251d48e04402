import { expect, test } from 'vitest';
import { closeMessage } from '../../../../src/proxy/ending/close-message.ts';
import type { EndReason } from '../../../../src/model/close-reason.ts';

test.each<[EndReason, string, string]>([
  ['evicted_demoted', '57P01', 'terminating connection: the server is no longer the primary'],
  ['landed_on_standby', '57P03', 'the server of pool "write" is a standby'],
  ['too_old', '57P01', 'terminating connection: maximum session age of pool "write" reached'],
  ['shutdown', '57P01', 'the proxy is shutting down'],
])('%s has its SQLSTATE, its own code, the detail and a hint', (reason, sqlState, sentence) => {
  expect(closeMessage(reason, 'write', 'why')).toEqual({
    sqlState,
    message: `pointsman: ${sentence} (${reason})`,
    detail: 'why',
    hint: expect.stringMatching(/^No transaction was open\. Connect /),
  });
});
