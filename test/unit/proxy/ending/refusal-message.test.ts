import { expect, test } from 'vitest';
import { refusalMessage } from '../../../../src/proxy/ending/refusal-message.ts';
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
  ['unknown_target', '3D000'],
  ['too_many_sessions', '53300'],
  ['hold_full', '53300'],
  ['hold_timeout', '57P03'],
  ['no_route', '57P03'],
  ['connect_failed', '08006'],
  ['shutdown', '57P03'],
  ['internal_error', 'XX000'],
])('%s has its SQLSTATE, its own word in the message, a hint, and no address', (reason, sqlState) => {
  const text = refusalMessage(reason, facts);
  expect(text.sqlState).toBe(sqlState);
  expect(text.message).toMatch(new RegExp(`^pointsman: .* \\(${reason}\\)$`));
  expect(text.hint).not.toBe('');
  expect(JSON.stringify(text)).not.toContain(address.host);
});

test('a pool of reads lacks a member, not a primary', () => {
  expect(refusalMessage('no_route', { ...facts, pool: aPool() }).message).toBe(
    'pointsman: no member to route to in pool "read" (no_route)',
  );
});

test('the detail says who was seen, and how long the client waited', () => {
  expect(refusalMessage('hold_timeout', { ...facts, waitedMs: 30_049 }).detail).toBe(
    'members seen: pg-2 (role does not fit the check: role replica); waited 30 s',
  );
  expect(refusalMessage('hold_timeout', { ...facts, waitedMs: 450 }).detail).toContain('; waited 450 ms');
});

test.each([
  ['database', 'What follows the last @ of a database name is a pool.'],
  ['parameter', 'in the startup parameter pointsman.pool of the client.'],
  ['options', 'in the startup options of the client: -c pointsman.pool=NAME.'],
] as const)('the hint about an unknown pool says where the client named it: %s', (targetFrom, words) => {
  expect(refusalMessage('unknown_target', { ...facts, targetFrom }).hint).toContain(words);
});
