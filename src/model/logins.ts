// Logins that bind to a certificate while TLS ends at Pointsman (`logins`).
import type { VerifierPolicy } from './moves.ts';

export interface LoginsPolicy {
  /** Names of roles; `*` stands for any characters. Only their verifiers are asked for. */
  readonly roles: readonly string[];
  /** From the server of the session, at each login that needs one. */
  readonly verifiers: VerifierPolicy;
}

/**
 * `plain`: no SCRAM, or nothing of it had to change. `shared`: both certificates have one hash. `unbound`: the client
 * was not offered to bind. `verifier`: Pointsman took part, with the verifier of the role.
 */
export const LOGIN_WAYS = ['plain', 'shared', 'unbound', 'verifier'] as const;
export type LoginWay = (typeof LOGIN_WAYS)[number];

/** `relayed`: client and server settle the rest. */
export const LOGIN_RESULTS = ['relayed', 'accepted', 'refused'] as const;
export type LoginResult = (typeof LOGIN_RESULTS)[number];
