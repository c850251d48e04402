// Files with which a server's certificate is verified. PEM text.

/** Certificates of authorities, or their lists of revoked certificates (CRL). */
export type PemKind = 'certificates' | 'revocations';

export type PemReading =
  | { readonly kind: 'pem'; readonly text: string }
  /** `why` continues the name of the file: `cannot be read: there is no such file`. */
  | { readonly kind: 'unusable'; readonly why: string };

/** Reads and checks a file. Never rejects. */
export type ReadPem = (file: string, kind: PemKind) => Promise<PemReading>;
