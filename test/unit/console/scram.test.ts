// The server's side of SCRAM-SHA-256, against the example of RFC 7677 (section 3).
import { expect, test } from 'vitest';
import { challenge, proven, rememberVerifier, verifierOf } from '../../../src/console/scram.ts';
import type { Challenge } from '../../../src/console/scram.ts';

const SALT = Buffer.from('W22ZaJ0SNY7soEsUEjb6gQ==', 'base64');
const NONCE = 'rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0';
const SENT: Challenge = {
  message: `r=${NONCE},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096`,
  nonce: NONCE,
  header: 'n,,',
  clientFirst: 'n=user,r=rOprNGfwEbeRWgbNEkqO',
};
const PROOF = 'dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=';

test('the proof of the example is accepted, and ours is the one of the example', async () => {
  const verifier = await verifierOf('pencil', SALT);
  expect(proven(verifier, SENT, `c=biws,r=${NONCE},p=${PROOF}`)).toBe('v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=');
});

test.each([
  ['another proof', `c=biws,r=${NONCE},p=${'A'.repeat(43)}=`],
  ['a short proof', `c=biws,r=${NONCE},p=AAAA`],
  ['another nonce', `c=biws,r=${NONCE}x,p=${PROOF}`],
  ['another header', `c=eSws,r=${NONCE},p=${PROOF}`],
  ['no proof', `c=biws,r=${NONCE}`],
  ['nothing', ''],
])('%s is not', async (_name, final) => {
  expect(proven(await verifierOf('pencil', SALT), SENT, final)).toBeUndefined();
});

test('the proof of the example does not fit another password', async () => {
  const verifier = await verifierOf('pencils', SALT);
  expect(proven(verifier, SENT, `c=biws,r=${NONCE},p=${PROOF}`)).toBeUndefined();
});

test('a challenge has the client’s nonce with ours behind it, never twice the same', async () => {
  const verifier = await verifierOf('pencil', SALT);
  const [one, other] = [challenge(verifier, 'n,,n=,r=abcdefgh'), challenge(verifier, 'y,,n=*,r=abcdefgh')];
  expect(one?.message).toMatch(/^r=abcdefgh[A-Za-z0-9+/]{24},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096$/);
  expect(one?.nonce).not.toBe(other?.nonce);
  expect(other?.header).toBe('y,,');
});

test.each([
  'p=tls-server-end-point,,n=,r=abcdefgh',
  'n,a=other,n=,r=abcdefgh',
  'n,,m=x,n=,r=abcdefgh',
  'n,,n=,r=',
  'n,,n=,r=short',
  `n,,n=,r=${'x'.repeat(300)}`,
  '',
])('%s is no first message that is accepted', async (first) => {
  expect(challenge(await verifierOf('pencil', SALT), first)).toBeUndefined();
});

test('the verifier is derived once for each password', async () => {
  const verifier = rememberVerifier();
  const first = await verifier('one');
  expect(await verifier('one')).toBe(first);
  expect(await verifier('two')).not.toBe(first);
});
