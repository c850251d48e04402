// An authority that lives as long as the sandbox, and certificates that it signs: X.509 (RFC 5280) with ECDSA on P-256.
// Node makes keys but no certificates, and the machine may have no openssl.
import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';
import { bits, der, integer, octets, sequence, set, tagged, taggedBytes, text, time, yes } from './der.ts';

/** Both in PEM. */
export interface LabKeyPair {
  readonly cert: string;
  readonly key: string;
}

export interface LabAuthority {
  /** Its certificate, in PEM. */
  readonly cert: string;
  /** For a server on loopback: 127.0.0.1 and localhost. `name` only tells certificates apart. */
  readonly issue: (name: string) => LabKeyPair;
}

interface CertificateSubject {
  readonly name: string;
  readonly publicKey: KeyObject;
  readonly extensions: readonly Buffer[];
}

interface Issuer {
  readonly name: string;
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

const OBJECT_IDENTIFIER = 0x06;
const id = (hex: string): Buffer => der(OBJECT_IDENTIFIER, Buffer.from(hex, 'hex'));
const ECDSA_WITH_SHA256 = sequence(id('2a8648ce3d040302'));
const COMMON_NAME = id('550403');
const SUBJECT_KEY_ID = id('551d0e');
const KEY_USAGE = id('551d0f');
const SUBJECT_ALT_NAME = id('551d11');
const BASIC_CONSTRAINTS = id('551d13');
const AUTHORITY_KEY_ID = id('551d23');
/** keyCertSign is the sixth bit, digitalSignature the first. */
const [SIGNS_CERTIFICATES, SIGNS] = [bits(Uint8Array.of(0x04), 2), bits(Uint8Array.of(0x80), 7)];
const [DNS, ADDRESS] = [2, 7];

const LIFETIME_MS = 365 * 24 * 3_600_000;
/** The clocks of a container and of its host may differ. */
const EARLIER_MS = 3_600_000;

export function makeLabAuthority(): LabAuthority {
  const issuer: Issuer = { name: 'Pointsman sandbox', ...newKeys() };
  const extensions = [
    extension(BASIC_CONSTRAINTS, sequence(yes()), 'critical'),
    extension(KEY_USAGE, SIGNS_CERTIFICATES, 'critical'),
    extension(SUBJECT_KEY_ID, octets(keyIdOf(issuer.publicKey))),
  ];
  return {
    cert: certificate({ ...issuer, extensions }, issuer),
    issue(name) {
      const { publicKey, privateKey } = newKeys();
      const names = [taggedBytes(ADDRESS, Uint8Array.of(127, 0, 0, 1)), taggedBytes(DNS, Buffer.from('localhost'))];
      const cert = certificate(
        {
          name,
          publicKey,
          extensions: [
            extension(KEY_USAGE, SIGNS, 'critical'),
            extension(SUBJECT_ALT_NAME, sequence(...names)),
            extension(AUTHORITY_KEY_ID, sequence(taggedBytes(0, keyIdOf(issuer.publicKey)))),
          ],
        },
        issuer,
      );
      return { cert, key: String(privateKey.export({ type: 'pkcs8', format: 'pem' })) };
    },
  };
}

function newKeys(): { publicKey: KeyObject; privateKey: KeyObject } {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' });
}

function certificate({ name, publicKey, extensions }: CertificateSubject, issuer: Issuer): string {
  const now = Date.now();
  const serial = randomBytes(16);
  // Positive, and not 0.
  serial[0] = 0x40;
  const signed = sequence(
    tagged(0, integer(Uint8Array.of(2))),
    integer(serial),
    ECDSA_WITH_SHA256,
    nameOf(issuer.name),
    sequence(time(new Date(now - EARLIER_MS)), time(new Date(now + LIFETIME_MS))),
    nameOf(name),
    spkiOf(publicKey),
    tagged(3, sequence(...extensions)),
  );
  const whole = sequence(signed, ECDSA_WITH_SHA256, bits(sign('sha256', signed, issuer.privateKey)));
  const lines = whole.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}

function extension(what: Buffer, value: Buffer, weight?: 'critical'): Buffer {
  return sequence(what, ...(weight === undefined ? [] : [yes()]), octets(value));
}

function nameOf(name: string): Buffer {
  return sequence(set(sequence(COMMON_NAME, text(name))));
}

function spkiOf(publicKey: KeyObject): Buffer {
  return publicKey.export({ type: 'spki', format: 'der' });
}

function keyIdOf(publicKey: KeyObject): Buffer {
  return createHash('sha1').update(spkiOf(publicKey)).digest();
}
