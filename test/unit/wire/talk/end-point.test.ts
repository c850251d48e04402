// Certificates that `openssl req -x509` has signed, each with another algorithm.
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { endPointHash } from '../../../../src/wire/talk/end-point.ts';

function certificate(name: string): Buffer {
  const file = new URL(`../../../fixtures/tls/end-point/${name}.pem`, import.meta.url);
  return new X509Certificate(readFileSync(file)).raw;
}

test.each([
  ['rsa-sha1', 'sha256'],
  ['rsa-sha256', 'sha256'],
  ['rsa-sha384', 'sha384'],
  ['rsa-sha512', 'sha512'],
  ['pss-sha1', 'sha256'],
  ['pss-sha256', 'sha256'],
  ['pss-sha384', 'sha384'],
  ['ecdsa-sha256', 'sha256'],
  ['ecdsa-sha384', 'sha384'],
  ['ed25519', undefined],
])('%s: %s', (name, hash) => {
  expect(endPointHash(certificate(name))).toBe(hash);
});

const element = (tag: number, content: Buffer): Buffer => Buffer.concat([Buffer.from([tag, content.length]), content]);

/** A certificate of nothing but its algorithm. */
function withAlgorithm(...parts: readonly Buffer[]): Buffer {
  const algorithm = element(0x30, Buffer.concat([element(0x06, Buffer.from('2a864886f70d01010a', 'hex')), ...parts]));
  return element(0x30, Buffer.concat([element(0x30, Buffer.alloc(0)), algorithm]));
}

test('RSA-PSS without parameters has SHA-1, and with a hash that is missing none', () => {
  expect(endPointHash(withAlgorithm())).toBe('sha256');
  expect(endPointHash(withAlgorithm(Buffer.from('3000', 'hex')))).toBe('sha256');
  expect(endPointHash(withAlgorithm(Buffer.from('3002a000', 'hex')))).toBeUndefined();
  expect(endPointHash(withAlgorithm(Buffer.from('3004a0023000', 'hex')))).toBeUndefined();
});

test('bytes that are no certificate have none, and do no harm', () => {
  const whole = certificate('pss-sha384');
  for (let size = 0; size < whole.length; size += 1) endPointHash(whole.subarray(0, size));
  expect(endPointHash(whole.subarray(0, -1))).toBeUndefined();
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(whole.length), (noise, at) => {
      endPointHash(noise);
      const broken = Buffer.from(whole);
      broken.set(noise.subarray(0, whole.length - at), at);
      endPointHash(broken);
    }),
  );
});
