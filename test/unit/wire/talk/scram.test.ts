import { describe, expect, test } from 'vitest';
import {
  clientKeyOf,
  fromBase64,
  isEqual,
  isServersSignature,
  proofOf,
  readServerFirst,
  readVerifier,
  toBase64,
} from '../../../../src/wire/talk/scram.ts';
import type { Hashes, ScramVerifier } from '../../../../src/wire/talk/scram.ts';
import { HASHES, scramKeys } from '../../../support/values/hashes.ts';

/** The exchange of RFC 7677, section 3. */
const SERVER_FIRST = 'r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096';
const NONCE = 'rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0';
const AUTH_MESSAGE = Buffer.from(`n=user,r=rOprNGfwEbeRWgbNEkqO,${SERVER_FIRST},c=biws,r=${NONCE}`);
const PROOF = Buffer.from('dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=', 'base64');
const SIGNATURE = Buffer.from('6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=', 'base64');
const KEYS = scramKeys('pencil', 'W22ZaJ0SNY7soEsUEjb6gQ==', 4096);

function verifierOf(text: Uint8Array): ScramVerifier {
  const verifier = readVerifier(text);
  if (verifier === undefined) throw new Error('no verifier');
  return verifier;
}

describe('the exchange of RFC 7677', () => {
  const verifier = verifierOf(KEYS.verifier);

  test('the proof of a login and the verifier give the key of the client', () => {
    const key = clientKeyOf(HASHES, { authMessage: AUTH_MESSAGE, proof: PROOF }, verifier);
    expect(Buffer.from(key ?? [])).toEqual(KEYS.clientKey);
    expect(Buffer.from(proofOf(HASHES, KEYS.clientKey, verifier, AUTH_MESSAGE))).toEqual(PROOF);
  });

  test("the server's signature is known from another one", () => {
    expect(isServersSignature(HASHES, verifier, AUTH_MESSAGE, SIGNATURE)).toBe(true);
    expect(isServersSignature(HASHES, verifier, AUTH_MESSAGE, PROOF)).toBe(false);
    expect(isServersSignature(HASHES, verifier, AUTH_MESSAGE, SIGNATURE.subarray(1))).toBe(false);
  });

  test('another password, another proof and another message give no key', () => {
    const login = { authMessage: AUTH_MESSAGE, proof: PROOF };
    const other = verifierOf(scramKeys('pencils', 'W22ZaJ0SNY7soEsUEjb6gQ==', 4096).verifier);
    expect(clientKeyOf(HASHES, login, other)).toBeUndefined();
    expect(clientKeyOf(HASHES, { ...login, proof: SIGNATURE }, verifier)).toBeUndefined();
    expect(clientKeyOf(HASHES, { ...login, authMessage: AUTH_MESSAGE.subarray(1) }, verifier)).toBeUndefined();
  });

  test('the first message of the server', () => {
    expect(readServerFirst(SERVER_FIRST)).toEqual({ nonce: NONCE, salt: 'W22ZaJ0SNY7soEsUEjb6gQ==', iterations: 4096 });
    for (const broken of [
      '',
      'm=ext,r=a,s=YQ==,i=1',
      'r=a,s=YQ==',
      'r=a,s=YQ==,i=-1',
      'r=,s=YQ==,i=1',
      'r=a,s=YQ==,i=1,e=x',
    ]) {
      expect(readServerFirst(broken), broken).toBeUndefined();
    }
  });
});

test('only a whole verifier of this method is one', () => {
  const text = KEYS.verifier.toString();
  const changed = (from: string | RegExp, to: string) => readVerifier(Buffer.from(text.replace(from, to)));
  const room = 512 - text.length + 'W22ZaJ0SNY7soEsUEjb6gQ=='.length;
  expect(changed('W22ZaJ0SNY7soEsUEjb6gQ==', 'A'.repeat(room))?.salt).toHaveLength(room);
  expect(changed('W22ZaJ0SNY7soEsUEjb6gQ==', 'A'.repeat(room + 1))).toBeUndefined();
  expect(changed('SCRAM-SHA-256', 'SCRAM-SHA-512')).toBeUndefined();
  expect(changed(/[$][^$]{44}:/, `$${'-'.repeat(44)}:`)).toBeUndefined();
  expect(changed(/[$][^$]{44}:/, `$${'A'.repeat(44)}:`)).toBeUndefined();
  expect(readVerifier(Buffer.from(text).subarray(-89))).toBeUndefined();
  expect(readVerifier(Buffer.from(text).subarray(-88))).toBeUndefined();
});

test('nothing is left in memory but the result', () => {
  const verifier = verifierOf(KEYS.verifier);
  const seen: Uint8Array[] = [];
  const spied: Hashes = {
    sha256(bytes) {
      const digest = HASHES.sha256(bytes);
      seen.push(bytes, digest);
      return digest;
    },
    hmacSha256(key, bytes) {
      const digest = HASHES.hmacSha256(key, bytes);
      seen.push(digest);
      return digest;
    },
    md5: (bytes) => HASHES.md5(bytes),
  };
  const login = { authMessage: AUTH_MESSAGE, proof: PROOF };
  const key = clientKeyOf(spied, login, verifier) ?? new Uint8Array(0);
  expect(clientKeyOf(spied, { ...login, proof: SIGNATURE }, verifier)).toBeUndefined();
  proofOf(spied, key, verifier, AUTH_MESSAGE);
  isServersSignature(spied, verifier, AUTH_MESSAGE, SIGNATURE);
  const left = seen.filter((bytes) => bytes.some((byte) => byte !== 0));
  expect([seen.length, left]).toEqual([8, [key]]);
});

test('the verifier as pg_authid has it', () => {
  const { salt, iterations, storedKey } = verifierOf(KEYS.verifier);
  expect({ salt, iterations }).toEqual({ salt: 'W22ZaJ0SNY7soEsUEjb6gQ==', iterations: 4096 });
  expect(Buffer.from(storedKey)).toEqual(Buffer.from(HASHES.sha256(KEYS.clientKey)));
});

test.each([
  '',
  'md5a1d2c3a1d2c3a1d2c3a1d2c3a1d2c3a1',
  KEYS.verifier.toString().replace('256$', '512$'),
  KEYS.verifier.toString().slice(1),
  KEYS.verifier.toString().slice(0, -1),
  KEYS.verifier.toString().replace('4096', ''),
  `${KEYS.verifier.toString().slice(0, -2)}!=`,
  // A key of 33 bytes, and two keys that nothing keeps apart.
  `${KEYS.verifier.toString().slice(0, -1)}A`,
  KEYS.verifier.toString().replace('=:', 'A:'),
  KEYS.verifier.toString().replace('=:', '=;'),
])('no verifier: %s', (text) => {
  expect(readVerifier(Buffer.from(text))).toBeUndefined();
});

test('base64 as PostgreSQL writes it', () => {
  for (const text of ['', 'f', 'fo', 'foo', 'foob', 'fooba', 'foobar', '\u0000\u0001ÿþ']) {
    const bytes = Buffer.from(text, 'latin1');
    expect(Buffer.from(fromBase64(Buffer.from(bytes.toString('base64'))) ?? [])).toEqual(bytes);
    expect(toBase64(bytes)).toBe(bytes.toString('base64'));
  }
  for (const broken of ['Zg', 'Z===', 'Zg=', '====', 'Zm9v Zm9', 'Zm9-']) {
    expect(fromBase64(Buffer.from(broken)), broken).toBeUndefined();
  }
  expect(isEqual(Buffer.from('a'), Buffer.from('b'))).toBe(false);
});
