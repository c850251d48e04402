// The form of a password in SCRAM (SASLprep, RFC 4013), as PostgreSQL makes it (pg_saslprep in saslprep.c). A password
// with characters that the RFC forbids stays as it is there; such a one does not log in here.

/** Spaces other than ASCII (RFC 3454, C.1.2), and characters that stand for nothing (B.1). */
const SPACES = /[\u00a0\u1680\u2000-\u200b\u202f\u205f\u3000]/g;
const NOTHING = /\u00ad|\u034f|\u1806|[\u180b-\u180d]|[\u200c\u200d]|\u2060|[\ufe00-\ufe0f]|\ufeff/g;

export function preparedPassword(password: string): string {
  return password.replaceAll(SPACES, ' ').replaceAll(NOTHING, '').normalize('NFKC');
}
