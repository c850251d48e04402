// A way to the backend: through one of the proxies, or directly.
import { familyOf } from '../processes.ts';

export interface Peer extends AsyncDisposable {
  readonly name: string;
  /** The peer's port on 127.0.0.1. */
  readonly port: number;
  /** The first process of the proxy; undefined without a proxy. */
  readonly pid: number | undefined;
  /** How its clients begin TLS. Undefined: they have none. */
  readonly tls?: 'request' | 'direct';
  /** Milliseconds from the start to the first accepted connection, if they were measured exactly. */
  readonly startedWithinMs?: number;
  /** The text for Prometheus; undefined for a peer without metrics. */
  metrics?(): Promise<string>;
}

/** The ids of all its processes. */
export function familyOfPeer({ pid }: Peer): readonly number[] {
  return pid === undefined ? [] : familyOf(pid);
}

/** The process ids in the form of the load program's arguments. */
export function watched(peer: Peer): string {
  return familyOfPeer(peer).join(',');
}

/** The arguments of a peer's start. */
export interface Surroundings {
  /** The port of the PostgreSQL, or of the tiny backend, on 127.0.0.1. */
  readonly backendPort: number;
  /** PgBouncer's login role at the backend. */
  readonly user: string;
}
