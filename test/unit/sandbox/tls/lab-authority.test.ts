// Node reads and verifies what the authority has made; psql, PostgreSQL and drivers do so in sandbox-moves.test.ts.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { expect, test } from 'vitest';
import { makeLabAuthority } from '../../../../src/sandbox/tls/lab-authority.ts';

test('a certificate for loopback that the authority has signed, with its key', () => {
  const authority = makeLabAuthority();
  const ca = new X509Certificate(authority.cert);
  const { cert, key } = authority.issue('Pointsman');
  const issued = new X509Certificate(cert);
  expect(ca).toMatchObject({ ca: true, subject: 'CN=Pointsman sandbox' });
  expect(issued).toMatchObject({ ca: false, subject: 'CN=Pointsman' });
  expect(issued.checkIssued(ca) && issued.verify(ca.publicKey)).toBe(true);
  expect(issued.checkPrivateKey(createPrivateKey(key))).toBe(true);
  expect([issued.checkIP('127.0.0.1'), issued.checkHost('localhost')]).toEqual(['127.0.0.1', 'localhost']);
  expect(issued.checkIP('127.0.0.2')).toBeUndefined();
  const [from, to] = [issued.validFrom, issued.validTo].map((text) => Date.parse(text) - Date.now());
  expect(from).toBeLessThan(0);
  expect(to).toBeGreaterThan(300 * 24 * 3_600_000);
});

test('each authority and each certificate is another one', () => {
  const [one, other] = [makeLabAuthority(), makeLabAuthority()];
  const issued = new X509Certificate(one.issue('a').cert);
  expect(issued.verify(new X509Certificate(other.cert).publicKey)).toBe(false);
  expect(issued.serialNumber).not.toBe(new X509Certificate(one.issue('a').cert).serialNumber);
});
