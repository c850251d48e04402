// A way to the backend: through one of the proxies, or directly.
import { familyOf } from '../processes.ts';

export interface Peer extends AsyncDisposable {
  readonly name: string;
  /** On 127.0.0.1. */
  readonly port: number;
  /** The proxy's first process; undefined when there is no proxy. */
  readonly pid: number | undefined;
  /** What it exposes for Prometheus, if it does. */
  metrics?(): Promise<string>;
}

/** As the load program takes them. */
export function watched({ pid }: Peer): string {
  return pid === undefined ? '' : familyOf(pid).join(',');
}

/** What a peer is started with. */
export interface Surroundings {
  /** On 127.0.0.1, of the PostgreSQL or what speaks as one. */
  readonly backendPort: number;
  readonly proxyCores: string | undefined;
  readonly otherCores: string | undefined;
}
