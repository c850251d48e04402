// The way of a session whose server does not show enough: to another member of its pool that does, or to the primary,
// as by fallback; and back.
import { isOfPrimary } from '../../core/primary-pools.ts';
import { openRoute, type RoutingTable } from '../../core/routing-table.ts';
import type { AskedServer } from '../../model/causal-reads.ts';
import type { PoolName, PoolPolicy } from '../../model/policy.ts';
import type { SessionRegistry } from '../session-registry.ts';
import type { MoveGoal, MoveRoute } from '../stage.ts';

export interface DetoursOptions {
  readonly table: () => RoutingTable;
  readonly registry: SessionRegistry;
  readonly pool: (name: PoolName) => PoolPolicy | undefined;
}

export class Detours {
  readonly #options: DetoursOptions;

  constructor(options: DetoursOptions) {
    this.#options = options;
  }

  /** A sentence: no other server may take the session. */
  goal(name: PoolName, from: AskedServer, covers: (server: AskedServer) => boolean): MoveGoal | string {
    const first = this.#route(name, from, covers);
    if (typeof first === 'string') return first;
    let isFirst = true;
    return {
      next: () => {
        const route = isFirst ? first : undefined;
        isFirst = false;
        return route;
      },
    };
  }

  /** The pool has members of its own that take sessions. */
  hasOwnMembers(name: PoolName): boolean {
    const route = openRoute(this.#options.table(), name);
    return route !== undefined && route.fallback === undefined && route.lagging === undefined;
  }

  /** Its fallback, if it has one, takes sessions: no switchover is under way. */
  hasPrimary(name: PoolName): boolean {
    const { table, pool } = this.#options;
    const fallback = pool(name)?.fallback?.pool;
    return fallback === undefined || openRoute(table(), fallback) !== undefined;
  }

  #route(name: PoolName, from: AskedServer, covers: (server: AskedServer) => boolean): MoveRoute | string {
    const { table, registry, pool } = this.#options;
    const suits = (server: AskedServer): boolean => server.member !== from.member && covers(server);
    if (openRoute(table(), name)?.targets.some(suits) === true) return { via: undefined, suits };
    const { pool: fallback = '', maxSessions = 0 } = pool(name)?.fallback ?? {};
    const via = pool(fallback);
    if (via === undefined || !isOfPrimary(via)) return 'No other member of the pool shows them.';
    if (registry.fallbackSessions(name) >= maxSessions) {
      return `As many sessions of the pool use its fallback as may: max_sessions is ${maxSessions}.`;
    }
    return openRoute(table(), fallback)?.targets.some(suits) === true
      ? { via, suits }
      : 'The pool of the primary takes no sessions.';
  }
}
