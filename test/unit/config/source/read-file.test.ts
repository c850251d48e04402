// A configuration file whose end may never come, and an empty one.
import { expect, test } from 'vitest';
import { loadConfig } from '../../../../src/config/load.ts';

test('a device that goes on for ever is too large, and an empty one is an empty file', () => {
  const endless = loadConfig({ file: '/dev/zero', env: {} });
  expect(endless).toMatchObject({
    kind: 'invalid',
    problems: [{ message: 'cannot be read: it is too large for a configuration (over 4 MB)' }],
  });
  expect(loadConfig({ file: '/dev/null', env: { POINTSMAN_CLUSTER_SEEDS: 'http://pg1:8008' } }).kind).toBe('ok');
});
