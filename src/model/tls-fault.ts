/**
 * Why a member got no TLS session. A closed list: label of a metric, field of an event, and of `/status`. `answer`: it
 * answered the request with neither yes nor no, or sent bytes before the handshake. `own_certificate`: it refuses the
 * certificate of Pointsman. `files`: those of `backend.tls` cannot be used, which is a fault of this machine.
 */
export const TLS_FAULTS = [
  'no_tls',
  'answer',
  'closed',
  'timeout',
  'handshake',
  'untrusted',
  'wrong_name',
  'expired',
  'not_yet_valid',
  'revoked',
  'crl',
  'own_certificate',
  'files',
] as const;
export type TlsFault = (typeof TLS_FAULTS)[number];
