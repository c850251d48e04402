// The certificate and the private key for clients with TLS. PEM text.

/** Paths of files. */
export interface KeyPairFiles {
  readonly cert: string;
  readonly key: string;
}

export interface KeyPair {
  /** The certificate, followed by the intermediate ones. */
  readonly cert: string;
  readonly key: string;
  /** The end of the certificate's validity. Milliseconds since 1970. */
  readonly expiresAt: number;
}

export type KeyPairReading =
  | ({ readonly kind: 'pair' } & KeyPair)
  /** `why` continues the name of the file: `cannot be read: there is no such file`. */
  | { readonly kind: 'unusable'; readonly file: keyof KeyPairFiles; readonly why: string };
