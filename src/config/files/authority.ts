// A file of certificate authorities in PEM: can TLS verify anybody with it?
import type * as Crypto from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { unreadable } from './unreadable.ts';

/** Node's TLS keeps 5 MB: loaded when there is a file to judge. */
const load = createRequire(import.meta.url);

const CERTIFICATE = /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----[^-]*-----END (?:TRUSTED |X509 )?CERTIFICATE-----/g;

/** Blocks until the file is read. Undefined when it is usable; else the reason, to stand behind the file's name. */
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
      return `cannot be used: certificate ${i + 1} of it is damaged`;
    }
  }
  return undefined;
}
