// Sums up the sessions of a pool that move, stay or fail together, from their events: one line of the log for each
// batch, over all processes.
import { isMoveFailure, type MoveFailure } from '../model/close-reason.ts';
import type { Clock, Instant } from '../model/instant.ts';
import type { MemberName } from '../model/member.ts';
import type { PinReason } from '../model/moves.ts';
import { nothing } from '../model/once.ts';
import type { PoolName } from '../model/policy.ts';
import type { EventOf, ReportedEvent } from '../reports/events.ts';

/** A batch ends after this long without an event: sessions are asked and moved one after the other. */
const QUIET_MS = 1_000;

interface MoveBatch {
  readonly since: Instant;
  until: Instant;
  readonly parked: Set<number>;
  readonly from: Set<MemberName>;
  readonly to: Set<MemberName>;
  readonly stayed: Partial<Record<PinReason, number>>;
  readonly failed: Partial<Record<MoveFailure, number>>;
  moved: number;
  ended: number;
  longestGapMs: number;
  /** Ends the wait for more. */
  cancel: () => void;
}

export class MoveBatches {
  readonly #clock: Clock;
  readonly #tell: (event: EventOf<'moves_finished'>) => void;
  readonly #open = new Map<PoolName, MoveBatch>();

  constructor(clock: Clock, tell: (event: EventOf<'moves_finished'>) => void) {
    this.#clock = clock;
    this.#tell = tell;
  }

  take(event: ReportedEvent, at: Instant): void {
    // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- the others are about no move
    switch (event.kind) {
      case 'session_parked':
        return this.#change(event.pool, at, ({ parked }) => void parked.add(event.session));
      case 'session_moved':
        return this.#change(event.pool, at, (batch) => addMoved(batch, event));
      case 'session_stayed':
        return this.#change(event.pool, at, ({ stayed }) => increase(stayed, event.reason));
      case 'session_closed': {
        const { pool, session, reason } = event;
        const isParked = this.#open.get(pool)?.parked.has(session) === true;
        if (isMoveFailure(reason)) this.#change(pool, at, (batch) => addFailed(batch, session, reason));
        else if (isParked) this.#change(pool, at, (batch) => addEnded(batch, session));
        return undefined;
      }
      default:
        return undefined;
    }
  }

  /** Reports the batches so far. */
  stop(): void {
    for (const pool of this.#open.keys()) this.#finish(pool);
  }

  #change(pool: PoolName, at: Instant, change: (batch: MoveBatch) => void): void {
    const batch = this.#open.get(pool) ?? emptyBatch(at);
    this.#open.set(pool, batch);
    change(batch);
    batch.until = Math.max(batch.until, at);
    batch.cancel();
    batch.cancel = batch.parked.size > 0 ? nothing : this.#finishLater(pool);
  }

  #finishLater(pool: PoolName): () => void {
    return this.#clock.schedule(QUIET_MS, () => this.#finish(pool));
  }

  #finish(pool: PoolName): void {
    const batch = this.#open.get(pool);
    if (batch === undefined) return;
    batch.cancel();
    this.#open.delete(pool);
    const { since, until, from, to, moved, stayed, failed, ended, longestGapMs } = batch;
    this.#tell({
      kind: 'moves_finished',
      pool,
      from: onlyOf(from),
      to: onlyOf(to),
      moved,
      stayed,
      failed,
      ended,
      longestGapMs,
      durationMs: until - since,
    });
  }
}

function emptyBatch(at: Instant): MoveBatch {
  return {
    since: at,
    until: at,
    parked: new Set(),
    from: new Set(),
    to: new Set(),
    stayed: {},
    failed: {},
    moved: 0,
    ended: 0,
    longestGapMs: 0,
    cancel: nothing,
  };
}

function addMoved(batch: MoveBatch, { session, from, to, gapMs }: EventOf<'session_moved'>): void {
  batch.parked.delete(session);
  batch.from.add(from);
  batch.to.add(to);
  batch.moved += 1;
  batch.longestGapMs = Math.max(batch.longestGapMs, gapMs);
}

function addFailed(batch: MoveBatch, session: number, reason: MoveFailure): void {
  batch.parked.delete(session);
  increase(batch.failed, reason);
}

function addEnded(batch: MoveBatch, session: number): void {
  batch.parked.delete(session);
  batch.ended += 1;
}

function increase<Reason extends string>(counts: Partial<Record<Reason, number>>, reason: Reason): void {
  counts[reason] = (counts[reason] ?? 0) + 1;
}

function onlyOf(names: ReadonlySet<MemberName>): MemberName | undefined {
  return names.size === 1 ? [...names][0] : undefined;
}
