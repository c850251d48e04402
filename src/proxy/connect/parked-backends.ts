// Backends that declined encryption and wait with their clients for the startup message. No request is open at a parked
// backend, so one that sends anything or closes is dropped. One whose member is no longer open in any pool is dropped
// synchronously with the decision.
import type { ProxySocket } from '../socket.ts';
import { includesTarget, type RoutingTable, type Target } from '../../core/routing-table.ts';

export interface ParkedBackend {
  /**
   * The socket, if it is alive and its member is among `targets`; the caller must listen to it synchronously. Else the
   * socket is dropped.
   */
  readonly take: (targets: readonly Target[]) => { readonly target: Target; readonly socket: ProxySocket } | undefined;
  /** Closes the socket, unless it was taken. Idempotent. */
  readonly drop: () => void;
}

interface ParkedEntry {
  readonly target: Target;
  readonly drop: () => void;
}

export class ParkedBackends {
  readonly #entries = new Set<ParkedEntry>();

  park(target: Target, socket: ProxySocket): ParkedBackend {
    const release = (): boolean => {
      socket.off('data', drop).off('end', drop).off('close', drop);
      return this.#entries.delete(entry);
    };
    const drop = (): void => {
      if (release()) socket.destroy();
    };
    const entry: ParkedEntry = { target, drop };
    if (!socket.destroyed) {
      this.#entries.add(entry);
      socket.on('data', drop).on('end', drop).on('close', drop);
    }
    const take: ParkedBackend['take'] = (targets) => {
      // The server may have reset it in this turn of the event loop; the `close` event is still to come then.
      if (socket.destroyed || !includesTarget(targets, target)) drop();
      return release() ? { target, socket } : undefined;
    };
    return { take, drop };
  }

  tableChanged({ pools }: RoutingTable): void {
    const open = [...pools.values()].flatMap(({ route }) => (route.kind === 'open' ? route.targets : []));
    for (const { target, drop } of this.#entries) {
      if (!includesTarget(open, target)) drop();
    }
  }
}
