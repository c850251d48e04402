// Why a request has no answer, in words.
import { expect, test } from 'vitest';
import { whyNot } from '../../../src/cli/admin-exchange.ts';

/** As Node reports it: one code for every fault of OpenSSL. */
function faultOfTls(what: string): Error {
  const message = `write EPROTO 400D31CE:error:0A00010B:SSL routines:ssl3_read_bytes:${what}:rec_layer_s3.c:918:`;
  return Object.assign(new Error(message), { code: 'EPROTO' });
}

test('http:// is the remedy only where the server speaks no TLS: a token must not go there in plain text', () => {
  expect(whyNot(faultOfTls('wrong version number'))).toBe('it does not speak TLS: write http://');
  expect(whyNot(faultOfTls('packet length too long'))).toBe('it does not speak TLS: write http://');
  for (const other of ['tlsv1 alert protocol version', 'ssl/tls alert handshake failure']) {
    expect(whyNot(faultOfTls(other))).toContain(other);
  }
});
