// The certificates of test/fixtures/tls by name.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { MemberTls } from '../../../src/model/member-tls.ts';

const FOLDER = new URL('../../fixtures/tls/', import.meta.url);

export function tlsFile(name: string): string {
  return fileURLToPath(new URL(name, FOLDER));
}

export function tlsText(name: string): string {
  return readFileSync(tlsFile(name), 'utf8');
}

export interface KeyPairPaths {
  readonly cert: string;
  readonly key: string;
}

/** For pg-a.test and 127.0.0.1, signed by ca.pem. */
export const SERVER: KeyPairPaths = { cert: tlsFile('server.pem'), key: tlsFile('server.key') };
/** `backend.tls` for members with this certificate at 127.0.0.1. */
export const SERVER_TLS: MemberTls = {
  mode: 'verify-full',
  caFile: tlsFile('ca.pem'),
  crlFile: undefined,
  pair: undefined,
  serverName: undefined,
  negotiation: 'request',
  minVersion: 'TLSv1.2',
};
/** For pg-b.test and 127.0.0.1, signed by other-ca.pem. */
export const OTHER: KeyPairPaths = { cert: tlsFile('other.pem'), key: tlsFile('other.key') };
