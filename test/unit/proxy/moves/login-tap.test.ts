// The login of a client whose sessions move is kept, and no other one.
import { expect, test } from 'vitest';
import { LoginTap } from '../../../../src/proxy/moves/login-tap.ts';
import { AUTHENTICATION_OK, parameterStatus, readyForQuery } from '../../../support/sockets/messages.ts';

const VERSION = parameterStatus('server_version', '18.1');

test.each([
  [true, 'trust', [new Map([['server_version', '18.1']])]],
  [false, 'other', []],
])('keeps it: %s', (keeps, method, expected) => {
  const told: ReadonlyMap<string, string>[] = [];
  const tap = new LoginTap(keeps, (parameters) => told.push(parameters));
  for (const chunk of [AUTHENTICATION_OK, VERSION, readyForQuery('I')]) {
    expect(told).toEqual([]);
    expect(tap.fromServer(chunk)).toBe(chunk);
  }
  expect([tap.login().login.method, told]).toEqual([method, expected]);
});
