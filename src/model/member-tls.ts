// TLS from Pointsman to the members (`backend.tls`). The certificate is verified in every mode.
import type { KeyPairFiles } from './key-pair.ts';

export interface MemberTls {
  /** `verify-full`: the certificate must be for the member's name, too. */
  readonly mode: 'verify-ca' | 'verify-full';
  /** Undefined: the system's authorities. */
  readonly caFile: string | undefined;
  readonly crlFile: string | undefined;
  /** Pointsman's own certificate. Undefined: none. */
  readonly pair: KeyPairFiles | undefined;
  /** May contain `{member}`. Undefined: the host of the member's address. */
  readonly serverName: string | undefined;
  /** `direct`: without a request (PostgreSQL 17). */
  readonly negotiation: 'request' | 'direct';
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3';
}
