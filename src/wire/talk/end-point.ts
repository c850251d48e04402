// The hash function of `tls-server-end-point` (RFC 5929, 4.1): that of the certificate's signature, and SHA-256 in
// place of MD5 and SHA-1. The signature of RSA-PSS has its hash in the parameters. DER: ITU-T X.690.

/** As node:crypto and OpenSSL name them. */
export type EndPointHash = 'sha256' | 'sha384' | 'sha512';

const OBJECT_ID = 0x06;
const CONTEXT_0 = 0xa0;
const RSA_PSS = '2a864886f70d01010a';
/** Object identifiers in hexadecimal, of signatures and, for RSA-PSS, of hashes. */
const HASHES: ReadonlyMap<string, EndPointHash> = new Map([
  // md5WithRSAEncryption, sha1WithRSAEncryption, ecdsa-with-SHA1, SHA-1
  ['2a864886f70d010104', 'sha256'],
  ['2a864886f70d010105', 'sha256'],
  ['2a8648ce3d0401', 'sha256'],
  ['2b0e03021a', 'sha256'],
  // sha256-, sha384-, sha512WithRSAEncryption
  ['2a864886f70d01010b', 'sha256'],
  ['2a864886f70d01010c', 'sha384'],
  ['2a864886f70d01010d', 'sha512'],
  // ecdsa-with-SHA256, -SHA384, -SHA512
  ['2a8648ce3d040302', 'sha256'],
  ['2a8648ce3d040303', 'sha384'],
  ['2a8648ce3d040304', 'sha512'],
  // SHA-256, SHA-384, SHA-512
  ['608648016503040201', 'sha256'],
  ['608648016503040202', 'sha384'],
  ['608648016503040203', 'sha512'],
]);

interface Element {
  readonly tag: number;
  readonly content: Uint8Array;
}

/** Undefined: the signature has no hash of its own (Ed25519), or it is not known here: nobody can bind to it. */
export function endPointHash(certificate: Uint8Array): EndPointHash | undefined {
  const [whole] = elements(certificate);
  const [, algorithm] = elements(whole?.content);
  const [id, parameters] = elements(algorithm?.content);
  const name = id?.tag === OBJECT_ID ? hex(id.content) : '';
  if (name !== RSA_PSS) return HASHES.get(name);
  // RSASSA-PSS-params (RFC 4055, 3.1): without a first field the hash is SHA-1.
  const first = elements(parameters?.content).find(({ tag }) => tag === CONTEXT_0);
  const [hash] = elements(elements(first?.content)[0]?.content);
  return first === undefined ? 'sha256' : HASHES.get(hash === undefined ? '' : hex(hash.content));
}

/** The elements side by side; those that are complete. */
function elements(bytes: Uint8Array = new Uint8Array(0)): readonly Element[] {
  const found: Element[] = [];
  for (let at = 0; at + 2 <= bytes.length;) {
    const short = bytes[at + 1] ?? 0;
    const sizes = short < 0x80 ? 0 : short & 0x7f;
    const size =
      sizes === 0 ? short : bytes.subarray(at + 2, at + 2 + sizes).reduce((sum, byte) => sum * 256 + byte, 0);
    const from = at + 2 + sizes;
    if (from + size > bytes.length) break;
    found.push({ tag: bytes[at] ?? 0, content: bytes.subarray(from, from + size) });
    at = from + size;
  }
  return found;
}

function hex(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
