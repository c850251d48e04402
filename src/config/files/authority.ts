// Checks a PEM file of certificate authorities: can TLS verify a server with it?
import type * as Crypto from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { unreadable } from './unreadable.ts';

/** Node's TLS takes 5 MB of memory, so it is loaded when there is a file to check. */
const load = createRequire(import.meta.url);

const CERTIFICATE = /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----[^-]*-----END (?:TRUSTED |X509 )?CERTIFICATE-----/g;

/** Blocks until the file is read. Undefined when it can be used; else the reason, to follow the file's name. */
export function unusableAuthority(file: string): string | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    return unreadable(error);
  }
  const certificates = text.match(CERTIFICATE) ?? [];
  if (certificates.length === 0) return 'is not a certificate in PEM';
  const { X509Certificate }: typeof Crypto = load('node:crypto');
  for (const [i, certificate] of certificates.entries()) {
    try {
      void new X509Certificate(certificate);
    } catch {
      return `cannot be used: its certificate ${i + 1} is damaged`;
    }
  }
  return undefined;
}
