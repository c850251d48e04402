// The certificate and the private key with which this program answers to clients that speak TLS: as plain data, PEM text.

/** Paths. */
export interface KeyPairFiles {
  readonly cert: string;
  readonly key: string;
}

export interface KeyPair {
  /** The certificate, and those between it and its authority behind it. */
  readonly cert: string;
  readonly key: string;
  /** The certificate's last moment; milliseconds since 1970. */
  readonly expiresAt: number;
}

export type KeyPairReading =
  | ({ readonly kind: 'pair' } & KeyPair)
  /** `why` follows the name of the file: `cannot be read: there is no such file`. */
  | { readonly kind: 'unusable'; readonly file: keyof KeyPairFiles; readonly why: string };
