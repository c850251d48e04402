// Checks a certificate and its key: can TLS use the pair, and if not, which file is wrong? Names and authorities are
// not checked: that is the clients' part.
import type * as Crypto from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type * as Tls from 'node:tls';
import type { KeyPairFiles, KeyPairReading } from '../../model/key-pair.ts';
import { unreadable } from './unusable-files.ts';

/** Node's TLS takes 5 MB of memory, so it is loaded when there is a pair to check. */
const load = createRequire(import.meta.url);

type UnusableKeyPair = Extract<KeyPairReading, { kind: 'unusable' }>;

/** Blocks until both are read. */
export function readKeyPairNow(files: KeyPairFiles): KeyPairReading {
  const cert = attempt('cert', () => readFileSync(files.cert, 'utf8'), unreadable);
  if (typeof cert !== 'string') return cert;
  const key = attempt('key', () => readFileSync(files.key, 'utf8'), unreadable);
  return typeof key === 'string' ? judge(cert, key) : key;
}

/** The same without blocking. Never rejects. */
export async function readKeyPair(files: KeyPairFiles): Promise<KeyPairReading> {
  const [cert, key] = await Promise.all([readText('cert', files.cert), readText('key', files.key)]);
  if (typeof cert !== 'string') return cert;
  return typeof key === 'string' ? judge(cert, key) : key;
}

async function readText(file: keyof KeyPairFiles, path: string): Promise<string | UnusableKeyPair> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    return { kind: 'unusable', file, why: unreadable(error) };
  }
}

function judge(cert: string, key: string): KeyPairReading {
  const { X509Certificate, createPrivateKey }: typeof Crypto = load('node:crypto');
  const { createSecureContext }: typeof Tls = load('node:tls');
  const certificate = attempt(
    'cert',
    () => new X509Certificate(cert),
    () => 'is not a certificate in PEM',
  );
  if (!(certificate instanceof X509Certificate)) return certificate;
  const privateKey = attempt(
    'key',
    () => createPrivateKey(key),
    () => noKey(key),
  );
  if (isUnusable(privateKey)) return privateKey;
  if (!certificate.checkPrivateKey(privateKey)) return { kind: 'unusable', file: 'key', why: 'is not the key of cert' };
  // OpenSSL refuses weak keys, and a chain whose other certificates are broken.
  const context = attempt(
    'cert',
    () => createSecureContext({ cert, key }),
    (error) => `cannot be used: ${reason(error)}`,
  );
  if (isUnusable(context)) return context;
  return { kind: 'pair', cert, key, expiresAt: certificate.validToDate.getTime() };
}

function isUnusable(value: object): value is UnusableKeyPair {
  return 'kind' in value && value.kind === 'unusable';
}

/** An encrypted key says so in its label (PKCS #8) or in a header (older kinds of PEM). */
function noKey(text: string): string {
  return text.includes('ENCRYPTED')
    ? 'is encrypted: a key without a passphrase is needed'
    : 'is not a private key in PEM';
}

function attempt<T>(file: keyof KeyPairFiles, run: () => T, explain: (error: unknown) => string): T | UnusableKeyPair {
  try {
    return run();
  } catch (error) {
    return { kind: 'unusable', file, why: explain(error) };
  }
}

function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'reason' in error ? String(error.reason) : error.message;
}
