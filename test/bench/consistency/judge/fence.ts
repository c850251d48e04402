// Writes that a server executed after another one had been promoted, by the logs of the servers.
import {
  type Ending,
  type Executed,
  type FaultRecord,
  FIRST_DIRECT_CLIENT,
  keyOf,
  type LockClaim,
  type Outcome,
  type Promotion,
  type Sight,
  type Write,
} from '../history.ts';
import { beginningOf, lockBack, whyGivenUp } from './branches.ts';

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
  /**
   * The first promotion to a higher timeline, or later by another server, that had begun; or an old primary that took
   * the lock back.
   */
  readonly promotion: Promotion;
  /** After the promotion had ended, by the server's log. Negative: while it was under way. */
  readonly executedAfterMs: number;
  /** Negative: the client had sent it before the promotion. Undefined: a direct client, which notes nothing. */
  readonly sentAfterMs: number | undefined;
  /** A fault kept the bytes from the server, or the server from running, while they were on their way. */
  readonly isHeldUp: boolean;
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
  /** Looks through the write port at a server that had been no primary for longer than the bound. */
  readonly staleLooks: readonly Sight[];
  /** Writes of clients that are connected to a server directly, for comparison. */
  readonly direct: readonly LateWrite[];
}

export function judgeFence(
  history: {
    readonly writes: readonly Write[];
    readonly sights: readonly Sight[];
    readonly executed: readonly Executed[];
    readonly promotions: readonly Promotion[];
    readonly claims: readonly LockClaim[];
    readonly faults: readonly FaultRecord[];
    readonly ending: Ending;
  },
  bounds: Bounds,
): FenceReport {
  const writes = new Map(history.writes.map((write) => [keyOf(write), write]));
  const promotions = history.promotions.toSorted((a, b) => a.atMs - b.atMs);
  const isGivenUp = (one: Promotion): boolean => whyGivenUp(one, promotions, history.ending) !== undefined;
  const givenUp = new Set(promotions.filter(isGivenUp));
  const backs = new Map([...givenUp].map((one) => [one, lockBack(one, promotions, history.claims)]));
  const lateOf = (executed: Executed, write: Write | undefined, outcome: Outcome | undefined): readonly LateWrite[] => {
    const begun = beginningOf(executed, promotions);
    const back = begun && backs.get(begun);
    const promotion = [...(back === undefined ? [] : [back]), ...promotions].find(
      (one) => one.begunAtMs < executed.atMs && (one === back || outranks(one, executed, begun)),
    );
    if (promotion === undefined) return [];
    const late: LateWrite = {
      executed,
      promotion,
      executedAfterMs: executed.atMs - promotion.atMs,
      sentAfterMs: write && write.sentAtMs - promotion.atMs,
      isHeldUp: isHeldUp(write, executed, history.faults),
      outcome,
      boundMs: blindMs(promotion, history.faults, bounds) + boundOf(promotion, executed, history.faults, bounds),
      allowedFromMs:
        givenUp.has(promotion) && isLeader(executed, promotion, history.claims) ? bounds.agreedMs : Infinity,
    };
    return [late];
  };
  const all = history.executed.flatMap((executed) => {
    const write = writes.get(keyOf(executed));
    return lateOf(executed, write, write?.outcome);
  });
  const isStale = ({ port, primary }: Sight): boolean =>
    port === 'write' &&
    primary !== undefined &&
    lateOf({ ...primary, client: 0, n: 0 }, undefined, 'acknowledged').some(isBeyond);
  const late = all.filter(({ executed }) => executed.client < FIRST_DIRECT_CLIENT);
  return {
    executed: history.executed.filter(({ client }) => client < FIRST_DIRECT_CLIENT).length,
    late,
    beyond: late.filter(isBeyond),
    staleLooks: history.sights.filter(isStale),
    direct: all.filter(({ executed }) => executed.client >= FIRST_DIRECT_CLIENT),
  };
}

/** The bytes left the client, or the client was told of success, when Pointsman should have closed the session. */
function isBeyond({ sentAfterMs, executedAfterMs, isHeldUp: wasHeldUp, ...more }: LateWrite): boolean {
  const { outcome, boundMs, allowedFromMs } = more;
  // By the server's clock: a write that no client knows of, and one that Pointsman alone can have kept for so long.
  const afterMs = outcome === 'acknowledged' || !wasHeldUp ? executedAfterMs : (sentAfterMs ?? executedAfterMs);
  return afterMs > boundMs && afterMs < allowedFromMs;
}

/** By Patroni's own words: it gave the lock back to the server before the write. */
function isLeader({ server, atMs }: Executed, promotion: Promotion, claims: readonly LockClaim[]): boolean {
  return claims.some((claim) => claim.server === server && claim.atMs > promotion.atMs && claim.atMs < atMs);
}

/** `own`: the promotion that began the timeline of the write. */
function outranks(one: Promotion, executed: Executed, own: Promotion | undefined): boolean {
  // A server that does not know a timeline begins one of the same or a lower number.
  if (one.timeline > executed.timeline) return true;
  return own !== undefined && one.server !== own.server && one.begunAtMs > own.begunAtMs;
}

/** A busy server takes this much for a statement without a fault. Milliseconds. */
const BUSY_MS = 1000;

function isHeldUp(write: Write | undefined, { server, atMs }: Executed, faults: readonly FaultRecord[]): boolean {
  if (write === undefined) return false;
  if (atMs - write.sentAtMs < BUSY_MS) return true;
  return faults.some(({ fromMs, toMs, hidden }) => hidden.includes(server) && fromMs < atMs && toMs > write.sentAtMs);
}

/** Two primaries on one timeline: their sessions may stay for as long as those of one that a fault hides. */
function boundOf(promotion: Promotion, executed: Executed, faults: readonly FaultRecord[], bounds: Bounds): number {
  // A server that took the lock back is no evidence, because its timeline is lower: the one before it must say no.
  const evident = promotion.timeline < executed.timeline ? executed.server : promotion.server;
  const isUncertain =
    promotion.timeline === executed.timeline || isHidden({ ...promotion, server: evident }, faults, bounds);
  return isUncertain ? bounds.hiddenMs : bounds.seenMs;
}

/** For how long after a promotion Pointsman did not run. It learns of it when it runs again. */
function blindMs({ atMs }: Promotion, faults: readonly FaultRecord[], { seenMs }: Bounds): number {
  return Math.max(
    0,
    ...faults.map(({ blind }) => (blind && blind.fromMs < atMs + seenMs && blind.toMs > atMs ? blind.toMs - atMs : 0)),
  );
}

/** Whether a fault hid the new primary from Pointsman at any time within the short bound. */
function isHidden({ server, atMs }: Promotion, faults: readonly FaultRecord[], { seenMs }: Bounds): boolean {
  return faults.some(({ fromMs, toMs, hidden }) => hidden.includes(server) && fromMs < atMs + seenMs && toMs > atMs);
}
