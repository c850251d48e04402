// The drain of a listener or a pool that a reload removed. Its relayed sessions end as if their member had been
// removed; clients that wait are refused. It is over when the operator has brought the listener or the pool back.
import type { SessionRegistry } from '../session-registry.ts';
import type { SessionHandle } from '../stage.ts';
import type { Drain } from './drains.ts';

export interface Removal {
  /** `listener 127.0.0.1:6432` or `pool read`: names it to the client, and is the key of its drain. */
  readonly what: string;
  readonly has: (session: SessionHandle) => boolean;
  readonly isBack: () => boolean;
  /** Milliseconds. */
  readonly limitMs: number;
}

export function drainOfRemoval({ what, has, isBack, limitMs }: Removal, registry: SessionRegistry): Drain {
  const detail = `${what} is no longer configured`;
  return {
    key: what,
    sessions: () => registry.all().filter(has),
    end: (session) => {
      // By now the session may have asked for another pool.
      if (has(session)) session.end(session.state === 'relaying' ? 'evicted_removed' : 'no_route', detail);
    },
    isOver: isBack,
    afterMs: 0,
    limitMs: () => limitMs,
  };
}
