// The server's side of SCRAM-SHA-256 (RFC 5802, RFC 7677), as PostgreSQL speaks it: the token never crosses the wire,
// and a listener learns nothing to log in with. Without channel binding, because the console has no TLS. The client's
// user name does not count (PostgreSQL ignores it here too).
import type * as Crypto from 'node:crypto';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';

export const MECHANISM = 'SCRAM-SHA-256';
/** PostgreSQL's own number. */
const ITERATIONS = 4096;
const KEY_BYTES = 32;
const SALT_BYTES = 16;
const NONCE_BYTES = 18;

/** node:crypto takes 4 MB, so it is loaded at the first login. */
const load = createRequire(import.meta.url);
const crypto = (): typeof Crypto => load('node:crypto');

/** The part of a password that is kept: enough to check a login, too little to log in. */
export interface Verifier {
  readonly salt: Buffer;
  readonly storedKey: Buffer;
  readonly serverKey: Buffer;
}

/** `password`: printable ASCII, which SASLprep leaves as it is. */
export async function verifierOf(password: string, salt = crypto().randomBytes(SALT_BYTES)): Promise<Verifier> {
  const { createHash, pbkdf2 } = crypto();
  const salted = await promisify(pbkdf2)(password, salt, ITERATIONS, KEY_BYTES, 'sha256');
  const storedKey = createHash('sha256').update(hmac(salted, 'Client Key')).digest();
  return { salt, storedKey, serverKey: hmac(salted, 'Server Key') };
}

/** Keeps the verifier of the last password: deriving it costs milliseconds, which no stranger shall make us spend. */
export function rememberVerifier(): (password: string) => Promise<Verifier> {
  let last: { readonly password: string; readonly verifier: Promise<Verifier> } | undefined;
  return (password) => {
    if (last?.password !== password) last = { password, verifier: verifierOf(password) };
    return last.verifier;
  };
}

/** The server's first message, and what the client's final message is checked against. */
export interface Challenge {
  readonly message: string;
  /** The client's and the server's nonce. */
  readonly nonce: string;
  readonly header: string;
  readonly clientFirst: string;
}

/** Undefined: not a message that this mechanism allows. `clientFirst`: `n,,n=,r=NONCE`. */
export function challenge({ salt }: Verifier, clientFirst: string): Challenge | undefined {
  // `n`, `y`: without channel binding. Another identity and unknown extensions (`m=`) are refused.
  const [, header, bare, clientNonce] =
    /^([ny],,)(n=[^,]*,r=([\x21-\x2b\x2d-\x7e]{8,256})(?:,.*)?)$/.exec(clientFirst) ?? [];
  if (header === undefined || bare === undefined || clientNonce === undefined) return undefined;
  const nonce = clientNonce + crypto().randomBytes(NONCE_BYTES).toString('base64');
  const message = `r=${nonce},s=${salt.toString('base64')},i=${ITERATIONS}`;
  return { message, nonce, header, clientFirst: bare };
}

/** The server's final message; undefined: the client does not know the password. */
export function proven(verifier: Verifier, sent: Challenge, clientFinal: string): string | undefined {
  const { createHash, timingSafeEqual } = crypto();
  const [, unproven, header, nonce, proof] = /^(c=([^,]+),r=([^,]+)(?:,[^p].*)?),p=([^,]+)$/.exec(clientFinal) ?? [];
  if (unproven === undefined || header === undefined || proof === undefined || nonce !== sent.nonce) return undefined;
  if (header !== Buffer.from(sent.header).toString('base64')) return undefined;
  const said = `${sent.clientFirst},${sent.message},${unproven}`;
  const signature = hmac(verifier.storedKey, said);
  const given = Buffer.from(proof, 'base64');
  if (given.length !== signature.length) return undefined;
  const clientKey = given.map((byte, at) => byte ^ (signature[at] ?? 0));
  if (!timingSafeEqual(createHash('sha256').update(clientKey).digest(), verifier.storedKey)) return undefined;
  return `v=${hmac(verifier.serverKey, said).toString('base64')}`;
}

function hmac(key: Buffer, text: string): Buffer {
  return crypto().createHmac('sha256', key).update(text).digest();
}
