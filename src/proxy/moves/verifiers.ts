// The verifiers for the logins at the next servers: one source for each server, opened for a batch of moves.
import type { Target } from '../../core/routing-table.ts';
import { addressText } from '../../model/member.ts';
import type { MovesPolicy, VerifierBatch, VerifierLookup, VerifierPolicy } from '../../model/moves.ts';
import type { TranscriptLogin } from '../../wire/follow/login-transcript.ts';
import { memberConnect } from '../connect/tls/member-dial.ts';
import type { ProxyDependencies } from '../options.ts';
import type { DialServer } from '../server.ts';

export interface VerifiersOptions extends Pick<ProxyDependencies, 'openVerifiers' | 'clock'> {
  readonly dial: DialServer;
  /** As it is now. Undefined: the section was removed. */
  readonly policy: () => MovesPolicy | undefined;
}

export class Verifiers {
  readonly #options: VerifiersOptions;
  /** By address. */
  readonly #batches = new Map<string, VerifierBatch>();
  /** As it was when a session was parked last: a reload may remove the section meanwhile. */
  #policy: VerifierPolicy | undefined;

  constructor(options: VerifiersOptions) {
    this.#options = options;
  }

  /** A session is parked: it needs the source, whatever a reload does. */
  keep(): void {
    this.#policy = this.#options.policy()?.verifiers ?? this.#policy;
  }

  find(server: Target, role: string): Promise<VerifierLookup> {
    const { policy, openVerifiers, dial, clock } = this.#options;
    const current = policy();
    const source = current === undefined ? this.#policy : current.verifiers;
    if (source === undefined || openVerifiers === undefined) {
      return Promise.resolve({ kind: 'refused', why: '`moves.verifiers` is not configured' });
    }
    const name = addressText(server.address);
    const batch = this.#batches.get(name) ?? openVerifiers(source, server.address, memberConnect(dial, clock)(server));
    this.#batches.set(name, batch);
    return batch.find(role).then((lookup) => (lookup.kind === 'found' ? lookup : named(lookup, server)));
  }

  /** Why the login cannot be repeated without its client. Undefined: it can be. */
  loginFault({ method }: TranscriptLogin): string | undefined {
    const { verifiers, md5 = false } = this.#options.policy() ?? {};
    if (method === 'trust') return undefined;
    if (method === 'other') return 'neither SCRAM-SHA-256 nor trust, or `moves` did not name the role then';
    if (method === 'md5' && !md5) return 'md5, and `moves.md5` is false';
    return verifiers === undefined ? '`moves.verifiers` is not configured' : undefined;
  }

  /** Nothing of a verifier stays. */
  endBatches(): void {
    for (const batch of this.#batches.values()) batch.end();
    this.#batches.clear();
  }
}

/** Clients read the reason, and addresses are not for them. */
function named<Lookup extends { readonly why: string }>(lookup: Lookup, { member, address }: Target): Lookup {
  const { host, port } = address;
  return { ...lookup, why: lookup.why.replaceAll(addressText(address), member).replaceAll(`${host}:${port}`, member) };
}
