// The words of the start about sessions with TLS, by the configuration.
import { expect, test } from 'vitest';
import { passthroughLimits } from '../../../src/app/passthrough-limits.ts';
import { configOf, load } from '../../support/values/loading.ts';
import { SERVER } from '../../support/values/tls-files.ts';

const said = (sections: object): string | undefined => passthroughLimits(configOf(load(JSON.stringify(sections))));
const SESSIONS = 'TLS of clients passes through to the members (client.tls.mode): such sessions ';

test('by default', () => {
  expect(said({})).toBe(
    `${SESSIONS}choose no pool by the database name, are not drained between two transactions and end without a ` +
      'reason; see config/tls.md',
  );
});

test('with moves and branches', () => {
  const branches = { source: 'static', static: { 'pr-1': 'pr-1.test:5432' } };
  expect(said({ moves: { roles: ['app'] }, branches })).toContain(
    `${SESSIONS}do not move, reach no branch by the database name, choose no pool`,
  );
});

test.each(['terminate', 'require'])('%s: nothing', (mode) => {
  expect(said({ client: { tls: { mode, ...SERVER } } })).toBeUndefined();
});
