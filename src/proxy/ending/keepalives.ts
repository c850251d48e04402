// Turns on TCP keepalive, which finds hosts that vanish with no bytes on the way to them. It takes eight system calls a
// session, so sessions that are over within seconds never have it: the live ones are looked at now and then.
import type { Clock } from '../../model/instant.ts';
import { nothing } from '../../model/once.ts';
import type { ProxyPolicy } from '../options.ts';
import { carrierOf, isLocal, keepAlive } from '../socket.ts';
import type { SessionHandle } from '../stage.ts';

export interface KeepalivesOptions {
  readonly clock: Clock;
  readonly registry: { all(): readonly Pick<SessionHandle, 'sockets'>[] };
  /** Read at each look. A new duration reaches the sessions that are there. */
  readonly policy: () => Pick<ProxyPolicy, 'client' | 'backend'>;
}

/** A host that vanishes is found so much later at most. Milliseconds. */
const LOOK_MS = 2_000;

export class Keepalives {
  readonly #options: KeepalivesOptions;
  #cancel = nothing;

  constructor(options: KeepalivesOptions) {
    this.#options = options;
  }

  /** At the start, and when the policy has changed. */
  review(): void {
    this.stop();
    const { client, backend } = this.#options.policy();
    if ((client.tcpKeepalivesIdleMs ?? backend.tcpKeepalivesIdleMs) === undefined) return;
    this.#cancel = this.#options.clock.schedule(LOOK_MS, () => {
      this.#look();
      this.review();
    });
  }

  stop(): void {
    this.#cancel();
  }

  #look(): void {
    const { client: ofClients, backend: ofBackends } = this.#options.policy();
    for (const session of this.#options.registry.all()) {
      const { client, backend } = session.sockets();
      if (!isLocal(client)) keepAlive(carrierOf(client), ofClients.tcpKeepalivesIdleMs);
      if (backend !== undefined) keepAlive(carrierOf(backend), ofBackends.tcpKeepalivesIdleMs);
    }
  }
}
