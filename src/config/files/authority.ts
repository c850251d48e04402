// Checks a PEM file of certificate authorities: can TLS verify a server with it?
import type * as Crypto from 'node:crypto';
import { createRequire } from 'node:module';
import type { AuthorityReading, ReadAuthorities } from '../../model/authority.ts';
import { readText, readTextNow, type FileText } from './unusable-files.ts';

/** Node's TLS takes 5 MB of memory, so it is loaded when there is a file to check. */
const load = createRequire(import.meta.url);

const CERTIFICATE = /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----[^-]*-----END (?:TRUSTED |X509 )?CERTIFICATE-----/g;

/** Blocks until the file is read. */
export function readAuthoritiesNow(file: string): AuthorityReading {
  return judge(readTextNow(file));
}

/** The same without blocking. */
export const readAuthorities: ReadAuthorities = async (file) => judge(await readText(file));

function judge({ text, why: unreadable }: FileText): AuthorityReading {
  if (unreadable !== undefined) return { kind: 'unusable', why: unreadable };
  const why = faultOf(text);
  return why === undefined ? { kind: 'authorities', text } : { kind: 'unusable', why };
}

function faultOf(text: string): string | undefined {
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
