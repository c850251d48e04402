// Ends the connection of a host that has vanished with bytes on the way to it, as TCP_USER_TIMEOUT does (RFC 5482): the
// kernel itself takes a quarter of an hour. Node cannot set that option, so the kernel's table of connections is read
// every few seconds; no byte of a session costs more. Where no session stays that long, nothing is read: there it has a
// hundred thousand connections that are over, and takes half a second. The socket fails with ETIMEDOUT, as it would
// with the option. Hosts without bytes on the way are found by keepalive.
import type { Clock } from '../../model/instant.ts';
import { nothing } from '../../model/once.ts';
import type { ProxyPolicy, ReadSilentConnections, Silence } from '../options.ts';
import type { SessionHandle } from '../stage.ts';
import { carrierOf } from '../socket.ts';
import { connectionKey, readSilentConnections } from './tcp-table.ts';

export interface TcpTimeoutsOptions {
  readonly clock: Clock;
  /** In the order of their ids. */
  readonly registry: { all(): readonly Pick<SessionHandle, 'id' | 'sockets'>[] };
  readonly policy: () => Pick<ProxyPolicy, 'client' | 'backend'>;
  /** Default: the kernel's table. */
  readonly read?: ReadSilentConnections | undefined;
}

/** The table is read so often within the shorter limit, at the most and the least often so. Milliseconds. */
const READINGS = 6;
const LEAST_MS = 1_000;
const MOST_MS = 10_000;

interface LastingSilence extends Silence {
  readonly forMs: number;
}

export class TcpTimeouts {
  readonly #options: TcpTimeoutsOptions;
  #silent: ReadonlyMap<string, LastingSilence> = new Map();
  /** The newest session at the last look. */
  #newestId = -Infinity;
  #cancel = nothing;
  /** Tells a turn that was stopped while it read. */
  #turn = 0;

  constructor(options: TcpTimeoutsOptions) {
    this.#options = options;
  }

  /** At the start, and when the policy has changed. */
  review(): void {
    this.stop();
    const { client, backend } = this.#options.policy();
    const shortest = Math.min(client.tcpUserTimeoutMs ?? Infinity, backend.tcpUserTimeoutMs ?? Infinity);
    if (shortest === Infinity) return;
    this.#wait(Math.min(MOST_MS, Math.max(LEAST_MS, shortest / READINGS)), this.#turn);
  }

  stop(): void {
    this.#turn += 1;
    this.#cancel();
    this.#silent = new Map();
  }

  #wait(intervalMs: number, turn: number): void {
    const { clock } = this.#options;
    const since = clock.now();
    this.#cancel = clock.schedule(intervalMs, () => void this.#look(intervalMs, since, turn));
  }

  async #look(intervalMs: number, since: number, turn: number): Promise<void> {
    const { clock, registry, read = readSilentConnections } = this.#options;
    const sessions = registry.all();
    const isOneOld = (sessions[0]?.id ?? Infinity) <= this.#newestId;
    this.#newestId = sessions.at(-1)?.id ?? -Infinity;
    const found = isOneOld ? await read() : new Map<string, Silence>();
    if (turn !== this.#turn) return;
    // A process that stood still has seen nothing of that time.
    const passedMs = Math.min(clock.now() - since, 2 * intervalMs);
    const before = this.#silent;
    this.#silent = new Map([...found].map(([key, now]) => [key, lasting(now, passedMs, before.get(key))]));
    if (found.size > 0) this.#endVanished();
    this.#wait(intervalMs, turn);
  }

  #endVanished(): void {
    const { registry, policy } = this.#options;
    const { client: ofClients, backend: ofBackends } = policy();
    for (const session of registry.all()) {
      const { client, backend } = session.sockets();
      for (const [socket, limitMs] of [
        [client, ofClients.tcpUserTimeoutMs],
        [backend, ofBackends.tcpUserTimeoutMs],
      ] as const) {
        // A TLS socket must not be asked for its addresses (startup/tls-handshake.ts).
        const key = socket && connectionKey(carrierOf(socket));
        const silence = key === undefined ? undefined : this.#silent.get(key);
        if (silence === undefined || limitMs === undefined || silence.forMs < limitMs) continue;
        socket?.destroy(Object.assign(new Error('no acknowledgement'), { code: 'ETIMEDOUT' }));
      }
    }
  }
}

/** Fewer bytes or fewer attempts than before: the peer has answered in between. */
function lasting(now: Silence, passedMs: number, before: LastingSilence | undefined): LastingSilence {
  const goesOn = before !== undefined && now.bytes >= before.bytes && now.attempts >= before.attempts;
  return { ...now, forMs: goesOn ? before.forMs + passedMs : 0 };
}
