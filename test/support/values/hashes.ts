// The hashes of node:crypto, and verifiers made of passwords as PostgreSQL makes them.
import { createHash, createHmac, pbkdf2Sync } from 'node:crypto';
import type { Hashes } from '../../../src/wire/talk/scram.ts';

export const HASHES: Hashes = {
  sha256: (bytes) => createHash('sha256').update(bytes).digest(),
  hmacSha256: (key, bytes) => createHmac('sha256', key).update(bytes).digest(),
  md5: (bytes) => createHash('md5').update(bytes).digest(),
};

export interface ScramKeys {
  readonly clientKey: Buffer;
  readonly verifier: Buffer;
}

/** RFC 5802, 3. `salt` in base64. */
export function scramKeys(password: string, salt: string, iterations: number): ScramKeys {
  const salted = pbkdf2Sync(password, Buffer.from(salt, 'base64'), iterations, 32, 'sha256');
  const key = (name: string): Buffer => createHmac('sha256', salted).update(name).digest();
  const clientKey = key('Client Key');
  const stored = createHash('sha256').update(clientKey).digest('base64');
  const text = `SCRAM-SHA-256$${iterations}:${salt}$${stored}:${key('Server Key').toString('base64')}`;
  return { clientKey, verifier: Buffer.from(text) };
}
