// Which settings of `backend.tls` suit the certificates that members showed.
import { expect, test } from 'vitest';
import { tlsAdvice, tlsDocument, type MemberTlsReport } from '../../../src/cli/member-tls-report.ts';

const member = (name: string, names: readonly string[] | undefined, isForHost = false): MemberTlsReport => ({
  member: name,
  offer: names === undefined ? 'none' : 'offered',
  certificate: names && { names, expiresAt: 0, isForHost },
  why: undefined,
});
const EPOCH = '1970-01-01T00:00:00.000Z';
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

test('the document of check --json', () => {
  const failing = { ...member('a', ['a']), why: 'it has expired' };
  expect(tlsDocument({ mode: 'verify-full', members: [failing, member('b', ['b'])] })).toEqual({
    mode: 'verify-full',
    members: [
      { member: 'a', offer: 'offered', verified: false, why: 'it has expired', names: ['a'], expires: EPOCH },
      { member: 'b', offer: 'offered', verified: true, why: null, names: ['b'], expires: EPOCH },
    ],
    suits: { mode: 'verify-full', server_name: '{member}' },
  });
  expect(tlsDocument({ mode: 'off', members: [member('a', ['a'])] })).toMatchObject({
    members: [{ verified: null }],
    suits: { mode: 'verify-full', server_name: '{member}' },
  });
});
