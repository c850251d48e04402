// Which settings of `backend.tls` suit the certificates that members showed.
import { expect, test } from 'vitest';
import { tlsAdvice, type MemberTlsReport } from '../../../src/cli/member-tls-report.ts';

const member = (name: string, names: readonly string[] | undefined, isForHost = false): MemberTlsReport => ({
  member: name,
  offer: names === undefined ? 'none' : 'offered',
  certificate: names && { names, expiresAt: 0, isForHost },
  why: undefined,
});
const full = (serverName?: string) => ({ mode: 'verify-full', serverName });

test.each([
  ['each is for the address of its member', [member('a', ['10.0.0.1'], true), member('b', ['b'], true)], full()],
  ['one name for all', [member('a', ['a', 'db.test']), member('b', ['b', 'db.test'])], full('{member}')],
  ['one certificate for all', [member('a', ['x', 'db.test'], true), member('b', ['x', 'db.test'])], full('x')],
  [
    'the name of the member in front',
    [member('a', ['a.db.test']), member('b', ['b.db.test'])],
    full('{member}.db.test'),
  ],
  ['a wildcard', [member('a', ['*.db.test']), member('b', ['db.test', '*.db.test'])], full('{member}.db.test')],
  [
    'nothing in common',
    [member('a', ['debian']), member('b', ['ubuntu'])],
    { mode: 'verify-ca', serverName: undefined },
  ],
  ['no name', [member('a', [])], { mode: 'verify-ca', serverName: undefined }],
  ['a member without TLS', [member('a', ['a'], true), member('b', undefined)], undefined],
  ['no member', [], undefined],
] as const)('%s', (_, members, advice) => {
  expect(tlsAdvice({ mode: 'off', members })).toEqual(advice);
});
