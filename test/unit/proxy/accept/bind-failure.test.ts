// Why a listening socket cannot be had: what an operator reads, and can do.
import { expect, test } from 'vitest';
import type { BindFailure } from '../../../../src/proxy/accept/bind-failure.ts';
import { explainAdoption, explainBind, explainUnknownSocket } from '../../../../src/proxy/accept/bind-failure.ts';

const TCP = { host: '10.0.0.5', port: 6432 };
const UNIX = { host: '/run/pointsman', port: 6432 };
const FILE = '/run/pointsman/.s.PGSQL.6432';

function errorOf(code: string | undefined): NodeJS.ErrnoException {
  return Object.assign(new Error('odd'), code === undefined ? {} : { code });
}

const own = { own: { host: '0.0.0.0', port: 6432 } };
const shared = { reusePort: true };

test.each<[string | undefined, Partial<BindFailure>, string]>([
  ['EADDRINUSE', own, '10.0.0.5:6432 is in use by the listener 0.0.0.0:6432: take another port, or restart'],
  ['EADDRINUSE', {}, '10.0.0.5:6432 is in use by another process'],
  [
    'EADDRINUSE',
    shared,
    '10.0.0.5:6432 is in use by another process that does not share it: it needs reuse_port too, and the same user',
  ],
  ['EACCES', {}, '10.0.0.5:6432 may not be bound by this user: ports below 1024 need a privilege'],
  ['EADDRNOTAVAIL', {}, '10.0.0.5:6432 is not an address of this machine'],
  ['ENOTFOUND', {}, '10.0.0.5:6432 cannot be resolved'],
  [
    'ENOTSUP',
    shared,
    '10.0.0.5:6432 cannot be shared: reuse_port needs a system that deals out connections, such as Linux or FreeBSD',
  ],
  ['ENOTSUP', {}, '10.0.0.5:6432 cannot be bound: odd'],
  ['EODD', {}, '10.0.0.5:6432 cannot be bound: odd'],
  [undefined, {}, '10.0.0.5:6432 cannot be bound: odd'],
])('a port, %s', (code, facts, words) => {
  const error = errorOf(code);
  expect(explainBind({ address: TCP, reusePort: false, own: undefined, error, ...facts })).toBe(words);
});

const NOT_OURS = `this user may not make, replace or use ${FILE}`;

test.each<[string | undefined, string]>([
  ['EADDRINUSE', `another process serves ${FILE}: take another port, or reuse_port to take the file over from it`],
  ['ENOTSOCK', `${FILE} is no socket: remove it, or take another port`],
  ['ENOENT', 'there is no directory /run/pointsman'],
  ['ENOTDIR', 'there is no directory /run/pointsman'],
  ['EACCES', NOT_OURS],
  ['EPERM', NOT_OURS],
  ['EODD', `${FILE} cannot be bound: odd`],
  [undefined, `${FILE} cannot be bound: odd`],
])('a Unix socket, %s', (code, words) => {
  const failure = { address: UNIX, reusePort: false, own: undefined, error: errorOf(code) };
  expect(explainBind(failure)).toMatch(new RegExp(`: ${words.replaceAll('.', '\\.')}$`));
});

test('a socket that was passed is named as it was passed', () => {
  const passed = { fd: 3, name: 'write' };
  const known = 'the socket that was passed as "write" (file descriptor 3)';
  expect(explainAdoption(passed, errorOf('ENOTSOCK'))).toBe(
    `${known} cannot be listened on (ENOTSOCK): expected a TCP socket`,
  );
  expect(explainAdoption(passed, errorOf(undefined))).toBe(`${known} odd`);
  expect(explainUnknownSocket(passed, TCP, [TCP, own.own])).toBe(
    'the socket that was passed as "write" is bound to 10.0.0.5:6432, which no listener names: ' +
      'there are 10.0.0.5:6432, 0.0.0.0:6432',
  );
});
