// The verifiers of roles that log in: from the server of the session, whose challenge they must fit. One connection to
// each server stays open while logins need it. Nothing is kept between two logins.
import { addressText } from '../../model/member.ts';
import type { LoginsPolicy } from '../../model/logins.ts';
import type { VerifierBatch, VerifierLookup } from '../../model/moves.ts';
import { memberConnect } from '../connect/tls/member-dial.ts';
import { apart, sharedClock } from '../fault.ts';
import type { ProxyDependencies } from '../options.ts';
import type { DialServer, Server } from '../server.ts';

export interface RoleVerifiersOptions extends Pick<ProxyDependencies, 'openVerifiers' | 'clock'> {
  readonly dial: DialServer;
  readonly policy: () => LoginsPolicy | undefined;
}

interface VerifiersOfServer {
  readonly batch: VerifierBatch;
  /** The logins that wait for an answer, by role. */
  readonly waiting: Map<string, number>;
  cancelEnd: () => void;
}

/** A connection that no login needs is closed after this time. Milliseconds. */
const UNUSED_MS = 60_000;

export class RoleVerifiers {
  readonly #options: RoleVerifiersOptions;
  /** By the address, and by the source of the verifiers. */
  readonly #servers = new Map<string, VerifiersOfServer>();

  constructor(options: RoleVerifiersOptions) {
    this.#options = { ...options, clock: sharedClock(options.clock) };
  }

  /** The verifier is the caller's, who overwrites it. Never rejects. */
  async find(server: Server, role: string): Promise<VerifierLookup> {
    const source = this.#source(server);
    if (source === undefined) return { kind: 'refused', why: '`logins` is not configured' };
    const { batch, waiting } = source;
    waiting.set(role, (waiting.get(role) ?? 0) + 1);
    const { promise, resolve } = Promise.withResolvers<VerifierLookup>();
    apart(() => void batch.find(role).then(resolve))();
    const lookup = await promise;
    // A slice of a Buffer would share its memory.
    const own = lookup.kind === 'found' ? { ...lookup, verifier: new Uint8Array(lookup.verifier) } : lookup;
    const others = (waiting.get(role) ?? 1) - 1;
    waiting.set(role, others);
    if (others === 0) {
      waiting.delete(role);
      batch.forget(role);
    }
    return own;
  }

  /** Closes the connections. */
  end(): void {
    for (const { batch, cancelEnd } of this.#servers.values()) {
      cancelEnd();
      batch.end();
    }
    this.#servers.clear();
  }

  #source(server: Server): VerifiersOfServer | undefined {
    const { openVerifiers, policy, dial, clock } = this.#options;
    const verifiers = policy()?.verifiers;
    if (verifiers === undefined || openVerifiers === undefined) return undefined;
    const key = JSON.stringify([addressText(server.address), verifiers]);
    const known = this.#servers.get(key);
    known?.cancelEnd();
    const connect = memberConnect(dial, clock)(server);
    const batch = known?.batch ?? openVerifiers(verifiers, server.address, connect);
    const source = known ?? { batch, waiting: new Map<string, number>(), cancelEnd: () => {} };
    this.#servers.set(key, source);
    source.cancelEnd = clock.schedule(UNUSED_MS, () => {
      this.#servers.delete(key);
      batch.end();
    });
    return source;
  }
}
