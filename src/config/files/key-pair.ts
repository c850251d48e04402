// Checks a certificate and its key: can TLS use the pair, and if not, which file is wrong? Names and authorities are
// not checked: that is the clients' part.
import type * as Crypto from 'node:crypto';
import { createRequire } from 'node:module';
import type * as Tls from 'node:tls';
import type { KeyPairFiles, KeyPairReading } from '../../model/key-pair.ts';
import { readText, readTextNow, type FileText } from './unusable-files.ts';

/** Node's TLS takes 5 MB of memory, so it is loaded when there is a pair to check. */
const load = createRequire(import.meta.url);

/** Blocks until both are read. */
export function readKeyPairNow(files: KeyPairFiles): KeyPairReading {
  return judge(readTextNow(files.cert), readTextNow(files.key));
}

/** The same without blocking. Never rejects. */
export async function readKeyPair(files: KeyPairFiles): Promise<KeyPairReading> {
  return judge(...(await Promise.all([readText(files.cert), readText(files.key)])));
}

function judge(certFile: FileText, keyFile: FileText): KeyPairReading {
  if (certFile.why !== undefined) return unusable('cert', certFile.why);
  if (keyFile.why !== undefined) return unusable('key', keyFile.why);
  const [cert, key] = [certFile.text, keyFile.text];
  const { X509Certificate, createPrivateKey }: typeof Crypto = load('node:crypto');
  const { createSecureContext }: typeof Tls = load('node:tls');
  const certificate = attempt(() => new X509Certificate(cert));
  if (certificate === undefined) return unusable('cert', 'is not a certificate in PEM');
  const privateKey = attempt(() => createPrivateKey(key));
  if (privateKey === undefined) return unusable('key', noKey(key));
  if (!certificate.checkPrivateKey(privateKey)) return unusable('key', 'is not the key of cert');
  try {
    // OpenSSL refuses weak keys, and a chain whose other certificates are broken.
    createSecureContext({ cert, key });
  } catch (error) {
    return unusable('cert', `cannot be used: ${reason(error)}`);
  }
  return { kind: 'pair', cert, key, expiresAt: certificate.validToDate.getTime() };
}

function unusable(file: keyof KeyPairFiles, why: string): KeyPairReading {
  return { kind: 'unusable', file, why };
}

/** An encrypted key says so in its label (PKCS #8) or in a header (older kinds of PEM). */
function noKey(text: string): string {
  return text.includes('ENCRYPTED')
    ? 'is encrypted: a key without a passphrase is needed'
    : 'is not a private key in PEM';
}

function attempt<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch {
    return undefined;
  }
}

function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'reason' in error ? String(error.reason) : error.message;
}
