// The section logins: its source of verifiers, and where it has an effect.
import { expect, test } from 'vitest';
import { reconfigured } from '../../../../src/config/changes.ts';
import { configOf, load, problemsOf, warningsOf } from '../../../support/values/loading.ts';
import { SERVER, tlsFile } from '../../../support/values/tls-files.ts';

/** A file that can be read, wherever this test runs. */
const HERE = import.meta.filename;
const TERMINATE = `client: { tls: { mode: terminate, cert: ${SERVER.cert}, key: ${SERVER.key} } }\n`;
const BACKEND = `backend: { tls: { mode: verify-full, ca_file: ${tlsFile('ca.pem')} } }\n`;
const WARNING = 'TLS is on both sides of Pointsman';

test('the verifiers are those of moves, or its own', () => {
  const moves = `moves: { roles: [app], verifiers: { file: ${HERE} } }\n`;
  expect(configOf(load(`${TERMINATE}${moves}logins: { roles: ["*"] }`)).logins).toEqual({
    roles: ['*'],
    verifiers: { kind: 'file', file: HERE },
  });
  const own = configOf(load(`${TERMINATE}${moves}logins: { roles: [app], verifiers: { user: pm } }`));
  expect(own.logins?.verifiers).toMatchObject({ kind: 'query', user: 'pm' });
  const without = configOf(load(TERMINATE));
  expect(without.logins).toBeUndefined();
  expect(reconfigured(without, own)).toMatchObject({ config: { logins: own.logins }, needsRestart: [] });
});

test.each([
  ['roles: []', 'logins.roles: is empty, so no login could bind'],
  ['roles: [app]', 'logins: has no source of verifiers: give logins.verifiers, or moves.verifiers'],
  ['roles: [app], verifiers: {}', 'logins.verifiers: has no source: give user and password_file, or file'],
])('{ %s }', (text, expected) => {
  expect(problemsOf(load(`${TERMINATE}logins: { ${text} }`)).join('\n')).toContain(expected);
});

test('warnings: without TLS that ends here it has no effect, and TLS on both sides needs it', () => {
  const logins = `logins: { roles: [app], verifiers: { file: ${HERE} } }\n`;
  expect(warningsOf(load(logins))).toContain('logins: has no effect: client.tls.mode is passthrough');
  expect(warningsOf(load(TERMINATE + BACKEND))).toContain(WARNING);
  expect(warningsOf(load(TERMINATE + BACKEND + logins))).not.toContain(WARNING);
  expect(warningsOf(load(BACKEND))).not.toContain(WARNING);
});
