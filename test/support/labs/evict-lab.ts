// Sessions of one member that must leave it, and the drains that begin for that. It notes what happens to each session.
import { expect } from 'vitest';
import type { Action } from '../../../src/core/actions.ts';
import type { Movability, MovesPolicy } from '../../../src/model/moves.ts';
import type { Drain } from '../../../src/proxy/ending/drains.ts';
import { evict } from '../../../src/proxy/ending/evict.ts';
import type { Progress, SessionHandle } from '../../../src/proxy/stage.ts';
import { aSessionHandle } from '../values/sessions.ts';
import { aTableOf } from '../values/tables.ts';
import { ManualClock } from '../waiting/manual-clock.ts';

export const ADDRESS = { host: 'pg-1', port: 5432 };
export const BUSY = { isIdle: () => false };
export const STAYED = { kind: 'stayed', reason: 'listening' } as const;
export const COULD_NOT_MOVE = '; the session could not move, because it ';

export function anAction(changes: Partial<Action> = {}): Action {
  const why = { code: 'wrong_role', detail: 'is a replica' } as const;
  const cause = { cause: 'tagged_out', why, mode: 'drain' } as const;
  return { kind: 'evict', pool: 'write', member: 'pg-1', address: ADDRESS, afterMs: 0, ...cause, ...changes };
}

export class EvictLab {
  readonly clock = new ManualClock();
  readonly calls: string[] = [];
  readonly drains: Drain[] = [];
  /** Those of pool write on pg-1. */
  readonly sessions: SessionHandle[] = [];
  moves: Pick<MovesPolicy, 'onStays' | 'waitMs' | 'questions'> | undefined;
  table = aTableOf({});
  /** A session whose server is gone is parked. */
  isParkedWhenLost = false;
  /** The answer of its server about its state. */
  found: { readonly at: number; readonly movability: Movability } | undefined;
  /** Tells about the last session that was to move. */
  tell: (progress: Progress) => void = () => expect.unreachable('no session was to move');

  carryOut(...actions: readonly Action[]): void {
    evict(actions, {
      drains: {
        start: (drain) => void this.drains.push(drain),
        endNow: ({ sessions, end }) => sessions().forEach(end),
        review: () => void this.calls.push('review'),
      },
      registry: {
        at: (pool, member, { host }) => (`${pool} ${member} ${host}` === 'write pg-1 pg-1' ? this.sessions : []),
      },
      table: () => this.table,
      clock: this.clock,
      drainTimeoutMs: (pool) => (pool === 'write' ? 60_000 : 1),
      moves: () => this.moves,
    });
  }

  /** The drain of an action. All notes until then are forgotten. */
  drain(changes: Partial<Action> = {}): Drain {
    this.carryOut(anAction(changes));
    this.calls.splice(0);
    return this.drains.pop() ?? expect.unreachable('no drain has begun');
  }

  session(name: string, changes: Partial<SessionHandle> = {}): SessionHandle {
    const session = aSessionHandle({
      assignment: () => ({ member: 'pg-1', address: ADDRESS, isFallback: false, isLagging: false }),
      end: (reason, detail) => this.calls.push(`${name} ends: ${reason}: ${detail}`),
      reroute: (isForced) =>
        this.calls.push(`${name} is routed again${isForced === true ? ', whatever its route' : ''}`),
      ...changes,
    });
    this.sessions.push(session);
    return session;
  }

  movable(name: string, changes: Partial<SessionHandle> = {}): SessionHandle {
    return this.session(name, {
      movable: {
        quietSince: () => 0,
        request: (cause, onProgress) => {
          this.calls.push(`${name} moves: ${cause}`);
          this.tell = onProgress;
        },
        requestWhenIdle: () => expect.unreachable('it does not wait here'),
        abort: (cause, error, onProgress) => {
          const isTold = Buffer.from(error).includes('pg-1: ');
          this.calls.push(`${name} is aborted: ${cause}${isTold ? ', and told of pg-1' : ''}`);
          this.tell = onProgress;
        },
        lose: () => this.isParkedWhenLost,
        ask: () => expect.unreachable('nobody wants to know'),
        shown: () => ({ moved: 0, ...(this.found === undefined ? {} : { found: this.found }) }),
      },
      ...changes,
    });
  }
}
