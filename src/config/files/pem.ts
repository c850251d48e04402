// Checks a PEM file of certificate authorities, or of revoked certificates: can TLS verify a server with it?
import type * as Crypto from 'node:crypto';
import { createRequire } from 'node:module';
import type * as Tls from 'node:tls';
import type { PemKind, PemReading, ReadPem } from '../../model/pem.ts';
import { readText, readTextNow, type FileText } from './unusable-files.ts';

/** Node's TLS takes 5 MB of memory, so it is loaded when there is a file to check. */
const load = createRequire(import.meta.url);

const CERTIFICATE = /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----[^-]*-----END (?:TRUSTED |X509 )?CERTIFICATE-----/g;

/** Blocks until the file is read. */
export function readPemNow(file: string, kind: PemKind): PemReading {
  return judge(readTextNow(file), kind);
}

/** The same without blocking. */
export const readPem: ReadPem = async (file, kind) => judge(await readText(file), kind);

function judge({ text, why: unreadable }: FileText, kind: PemKind): PemReading {
  if (unreadable !== undefined) return { kind: 'unusable', why: unreadable };
  const why = kind === 'certificates' ? faultOf(text) : faultOfRevocations(text);
  return why === undefined ? { kind: 'pem', text } : { kind: 'unusable', why };
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

function faultOfRevocations(text: string): string | undefined {
  if (!text.includes('-----BEGIN X509 CRL-----')) return 'is not a list of revoked certificates in PEM';
  const { createSecureContext }: typeof Tls = load('node:tls');
  try {
    void createSecureContext({ crl: text });
    return undefined;
  } catch {
    return 'cannot be used: its list of revoked certificates is damaged';
  }
}
