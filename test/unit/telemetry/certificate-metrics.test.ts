// The exposition of the certificate for clients.
import { expect, test } from 'vitest';
import { createMetrics } from '../../../src/telemetry/metrics.ts';
import type { MetricsOptions } from '../../../src/telemetry/metrics.ts';
import { withoutScope } from '../../support/values/samples.ts';
import { aStatusSource } from '../../support/values/status-source.ts';

test('the certificate for clients, while there is one', async () => {
  let certificate: ReturnType<MetricsOptions['scrape']>['certificate'] = {
    file: '/a.crt',
    expiresAt: 1_500,
    isCurrent: false,
  };
  const source = aStatusSource({ certificate: () => certificate });
  const { text } = createMetrics({ version: '1', nodeVersion: 'v24', pools: ['write'], ...source });
  const samples = async () =>
    withoutScope(await text())
      .split('\n')
      .filter((line) => line.startsWith('pointsman_tls_'));
  expect(await samples()).toEqual([
    'pointsman_tls_certificate_expiry_timestamp_seconds{file="/a.crt"} 1.5',
    'pointsman_tls_certificate_current{file="/a.crt"} 0',
  ]);
  certificate = undefined;
  expect(await samples()).toEqual([]);
});
