// The exposition of certificates: for clients, for members, and those of the members.
import { expect, test } from 'vitest';
import { createMetrics } from '../../../src/telemetry/metrics.ts';
import type { MetricsOptions } from '../../../src/telemetry/metrics.ts';
import { withoutScope } from '../../support/values/samples.ts';
import { aList, aPolicy } from '../../support/values/builders.ts';
import { aStatusSource, decidedAt } from '../../support/values/status-source.ts';

test('the certificates for clients and for members, while there are any', async () => {
  let certificate: ReturnType<MetricsOptions['scrape']>['certificate'] = {
    file: '/a.crt',
    expiresAt: 1_500,
    isCurrent: false,
  };
  const memberPair = { file: '/member.crt', expiresAt: 2_500 };
  let ofMembers: typeof memberPair | undefined = memberPair;
  const source = aStatusSource({ certificate: () => certificate, memberPair: () => ofMembers });
  const { text } = createMetrics({ version: '1', nodeVersion: 'v24', pools: ['write'], ...source });
  const samples = async () =>
    withoutScope(await text())
      .split('\n')
      .filter((line) => line.startsWith('pointsman_tls_'));
  expect(await samples()).toEqual([
    'pointsman_tls_certificate_expiry_timestamp_seconds{file="/a.crt"} 1.5',
    'pointsman_tls_certificate_expiry_timestamp_seconds{file="/member.crt"} 2.5',
    'pointsman_tls_certificate_current{file="/a.crt"} 0',
  ]);
  [certificate, ofMembers] = [undefined, undefined];
  expect(await samples()).toEqual([]);
});

test('the certificate of each member, as it was verified last, and the failures by reason', async () => {
  const handshakes = new Map([
    ['pg-1', { expiresAt: 1_500, failing: undefined }],
    ['pg-2', { expiresAt: undefined, failing: undefined }],
  ]);
  const source = aStatusSource({ ...decidedAt(aPolicy(), 0, aList(0, 'pg-1')), handshakes: () => handshakes });
  const { text, count } = createMetrics({ version: '1', nodeVersion: 'v24', pools: ['write'], ...source });
  count({ kind: 'members_changed', added: ['pg-1'], removed: [] });
  count({ kind: 'member_tls_failed', member: 'pg-1', reason: 'expired', why: 'it has expired' });
  const samples = withoutScope(await text())
    .split('\n')
    .filter((line) => line.startsWith('pointsman_member_tls_') && !line.endsWith(' 0'));
  expect(samples).toEqual([
    'pointsman_member_tls_failures_total{member="pg-1",reason="expired"} 1',
    'pointsman_member_tls_certificate_expiry_timestamp_seconds{member="pg-1"} 1.5',
  ]);
});
