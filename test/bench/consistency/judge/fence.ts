// Writes that a server executed after another one had been promoted, by the logs of the servers.
import {
  type Ending,
  type Executed,
  type FaultRecord,
  FIRST_DIRECT_CLIENT,
  keyOf,
  type Outcome,
  type Promotion,
  type Write,
} from '../history.ts';
import { whyGivenUp } from './branches.ts';

/** For how long after a promotion Pointsman may still let a client write to the server before it. Milliseconds. */
export interface Bounds {
  /** The new primary's management API can be reached: one probe, and its answer. */
  readonly seenMs: number;
  /** It cannot: the old primary is silent, and its sessions end by `silence_grace`. */
  readonly hiddenMs: number;
  /** A primary on a lower timeline is refused until all members have agreed on it for so long. */
  readonly agreedMs: number;
}

/** A write at a server that was no primary any more. */
export interface LateWrite {
  readonly executed: Executed;
  /** The first promotion to a higher timeline that had begun. */
  readonly promotion: Promotion;
  /** After the promotion had ended, by the server's log. Negative: while it was under way. */
  readonly executedAfterMs: number;
  /** Negative: the client had sent it before the promotion. Undefined: a direct client, which notes nothing. */
  readonly sentAfterMs: number | undefined;
  readonly outcome: Outcome | undefined;
  readonly boundMs: number;
  /** From so long after the promotion Pointsman may take the old primary back: the cluster gave the new one up. */
  readonly allowedFromMs: number;
}

export interface FenceReport {
  readonly executed: number;
  /** Writes of Pointsman's clients. */
  readonly late: readonly LateWrite[];
  /** Those of them that Pointsman should not have let through. */
  readonly beyond: readonly LateWrite[];
  /** Writes of clients that are connected to a server directly, for comparison. */
  readonly direct: readonly LateWrite[];
  /** In the log of no server, although a client was told that it is committed. */
  readonly unlogged: readonly Write[];
}

export function judgeFence(
  history: {
    readonly writes: readonly Write[];
    readonly executed: readonly Executed[];
    readonly promotions: readonly Promotion[];
    readonly faults: readonly FaultRecord[];
    readonly ending: Ending;
  },
  bounds: Bounds,
): FenceReport {
  const writes = new Map(history.writes.map((write) => [keyOf(write), write]));
  const promotions = history.promotions.toSorted((a, b) => a.atMs - b.atMs);
  const isGivenUp = (one: Promotion): boolean => whyGivenUp(one, promotions, history.ending) !== undefined;
  const givenUp = new Set(promotions.filter(isGivenUp));
  const all = history.executed.flatMap((executed) => {
    const promotion = promotions.find(
      ({ timeline, begunAtMs }) => timeline > executed.timeline && begunAtMs < executed.atMs,
    );
    if (promotion === undefined) return [];
    const write = writes.get(keyOf(executed));
    const late: LateWrite = {
      executed,
      promotion,
      executedAfterMs: executed.atMs - promotion.atMs,
      sentAfterMs: write && write.sentAtMs - promotion.atMs,
      outcome: write?.outcome,
      boundMs: isHidden(promotion, history.faults, bounds) ? bounds.hiddenMs : bounds.seenMs,
      allowedFromMs: givenUp.has(promotion) ? bounds.agreedMs : Infinity,
    };
    return [late];
  });
  const late = all.filter(({ executed }) => executed.client < FIRST_DIRECT_CLIENT);
  const logged = new Set(history.executed.map(keyOf));
  return {
    executed: history.executed.filter(({ client }) => client < FIRST_DIRECT_CLIENT).length,
    late,
    beyond: late.filter(isBeyond),
    direct: all.filter(({ executed }) => executed.client >= FIRST_DIRECT_CLIENT),
    unlogged: history.writes.filter((write) => write.outcome === 'acknowledged' && !logged.has(keyOf(write))),
  };
}

/** The bytes left the client, or the client was told of success, when Pointsman should have closed the session. */
function isBeyond({ sentAfterMs, executedAfterMs, outcome, boundMs, allowedFromMs }: LateWrite): boolean {
  // A write that no client knows of is judged by the server's clock.
  const afterMs = outcome === 'acknowledged' ? executedAfterMs : (sentAfterMs ?? executedAfterMs);
  return afterMs > boundMs && afterMs < allowedFromMs;
}

/** Whether a fault hid the new primary from Pointsman at any time within the short bound. */
function isHidden({ server, atMs }: Promotion, faults: readonly FaultRecord[], { seenMs }: Bounds): boolean {
  return faults.some(({ fromMs, toMs, hidden }) => hidden.includes(server) && fromMs < atMs + seenMs && toMs > atMs);
}
