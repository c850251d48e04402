// The login of a client whose sessions move is kept, and no other one.
import { expect, test } from 'vitest';
import { Interposed } from '../../../../src/proxy/moves/interposed.ts';
import { ManualClock } from '../../../support/waiting/manual-clock.ts';
import { AUTHENTICATION_OK, readyForQuery } from '../../../support/sockets/messages.ts';

function loginOf(keepsLogin: boolean): string {
  const interposed = new Interposed({ clock: new ManualClock(), sharedTold: (told) => told }, keepsLogin);
  interposed.fromBackend(Buffer.concat([AUTHENTICATION_OK, readyForQuery('I')]));
  return interposed.login().login.method;
}

test('the login is kept where the role is one whose sessions move', () => {
  expect(loginOf(true)).toBe('trust');
  expect(loginOf(false)).toBe('other');
});
