import { expect, test } from 'vitest';
import { refusalMessage } from '../../../../src/proxy/messages/refusal-message.ts';
import type { RefusalReason } from '../../../../src/model/close-reason.ts';
import { aPool, aWritePool } from '../../../support/values/builders.ts';
import { DEMOTED, aDecision } from '../../../support/values/tables.ts';

const address = { host: '10.0.0.7', port: 5432 };
const facts = {
  pool: aWritePool(),
  decision: aDecision({ others: { 'pg-2': { address, standing: DEMOTED } } }),
  now: 0,
  waitedMs: 0,
  detail: undefined,
};

test.each<[RefusalReason, string]>([
  ['startup_timeout', '08P01'],
  ['not_postgres', '08P01'],
  ['unsupported_protocol', '0A000'],
  ['tls_required', '28000'],
  ['unknown_pool', '3D000'],
  ['unknown_branch', '3D000'],
  ['branch_not_allowed', '28000'],
  ['ambiguous_branch', '22023'],
  ['branches_unavailable', '57P03'],
  ['branch_unreachable', '57P03'],
  ['too_many_sessions', '53300'],
  ['hold_full', '53300'],
  ['hold_timeout', '57P03'],
  ['no_route', '57P03'],
  ['connect_failed', '08006'],
  ['killed_by_operator', '57P01'],
  ['shutdown', '57P03'],
  ['internal_error', 'XX000'],
])('%s has its SQLSTATE, its own code in the message, a hint, and no address', (reason, sqlState) => {
  const text = refusalMessage(reason, facts);
  expect(text.sqlState).toBe(sqlState);
  expect(text.message).toMatch(new RegExp(`^pointsman: .* \\(${reason}\\)$`));
  expect(text.hint).not.toBe('');
  expect(JSON.stringify(text)).not.toContain(address.host);
});

test('a pool of reads lacks a member, not a primary', () => {
  expect(refusalMessage('no_route', { ...facts, pool: aPool() }).message).toBe(
    'pointsman: no member available for pool "read" (no_route)',
  );
});

test('the message has the wait of the client, the detail lists the members', () => {
  expect(refusalMessage('hold_timeout', { ...facts, waitedMs: 30_049 })).toMatchObject({
    message: 'pointsman: no primary available for pool "write" after waiting 30 s (hold_timeout)',
    detail: 'members: pg-2 (is a replica)',
  });
  const failed = refusalMessage('connect_failed', { ...facts, waitedMs: 450 });
  expect(failed.message).toContain('pool "write" after waiting 450 ms (');
});

test.each([
  ['database', 'The part after the last @ of a database name selects the pool.'],
  ['parameter', 'in its startup parameter pointsman.pool.'],
  ['options', 'in its startup options: -c pointsman.pool=NAME.'],
] as const)('the hint about an unknown pool names the place in the client’s request: %s', (targetFrom, words) => {
  expect(refusalMessage('unknown_pool', { ...facts, targetFrom }).hint).toContain(words);
});
