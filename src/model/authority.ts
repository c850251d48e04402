// The certificate authorities that a server's certificate is verified with. PEM text.

export type AuthorityReading =
  | { readonly kind: 'authorities'; readonly text: string }
  /** `why` continues the name of the file: `cannot be read: there is no such file`. */
  | { readonly kind: 'unusable'; readonly why: string };

/** Reads and checks a PEM file. Never rejects. */
export type ReadAuthorities = (file: string) => Promise<AuthorityReading>;
