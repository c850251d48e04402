// A way to the backend: through one of the proxies, or directly.
import { familyOf } from '../processes.ts';

export interface Peer extends AsyncDisposable {
  readonly name: string;
  /** On 127.0.0.1. */
  readonly port: number;
  /** The proxy's first process; undefined when there is no proxy. */
  readonly pid: number | undefined;
  /** From its start until it took connections, where that is known to the millisecond. */
  readonly startedWithinMs?: number;
  /** What it exposes for Prometheus, if it does. */
  metrics?(): Promise<string>;
}

/** All its processes. */
export function familyOfPeer({ pid }: Peer): readonly number[] {
  return pid === undefined ? [] : familyOf(pid);
}

/** As the load program takes them. */
export function watched(peer: Peer): string {
  return familyOfPeer(peer).join(',');
}

/** What a peer is started with. */
export interface Surroundings {
  /** On 127.0.0.1, of the PostgreSQL or what speaks as one. */
  readonly backendPort: number;
  /** Who PgBouncer is there. */
  readonly user: string;
}
