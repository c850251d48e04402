// Checks a PEM file of certificate authorities: can TLS verify a server with it?
import type * as Crypto from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { ReadAuthorities } from '../../model/authority.ts';
import { unreadable } from './unusable-files.ts';

/** Node's TLS takes 5 MB of memory, so it is loaded when there is a file to check. */
const load = createRequire(import.meta.url);

const CERTIFICATE = /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----[^-]*-----END (?:TRUSTED |X509 )?CERTIFICATE-----/g;

/** Blocks until the file is read. Undefined when it can be used; else the reason, to follow the file's name. */
export function unusableAuthority(file: string): string | undefined {
  try {
    return faultOf(readFileSync(file, 'utf8'));
  } catch (error) {
    return unreadable(error);
  }
}

/** The same without blocking. */
export const readAuthorities: ReadAuthorities = async (file) => {
  try {
    const text = await readFile(file, 'utf8');
    const why = faultOf(text);
    return why === undefined ? { kind: 'authorities', text } : { kind: 'unusable', why };
  } catch (error) {
    return { kind: 'unusable', why: unreadable(error) };
  }
};

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
