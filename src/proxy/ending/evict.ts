// Carries out what a change of the routing table asks of live sessions. Mode `close` acts synchronously, the others but
// `keep` start a drain, and `drain_idle` has no deadline. With `move` the sessions of a drain move where they can. A
// session that is still connecting to the member is routed again whatever the mode: nothing of its client was forwarded
// yet.
import { isOver, type Action } from '../../core/actions.ts';
import { describeStanding } from '../../core/describe.ts';
import type { RoutingTable } from '../../core/routing-table.ts';
import { pinText } from '../../core/pin-words.ts';
import { evictionReason, isOperation, type EvictionCause, type EvictionReason } from '../../model/close-reason.ts';
import type { Clock } from '../../model/instant.ts';
import { addressText, isSameAddress } from '../../model/member.ts';
import type { MovesPolicy, PinReason } from '../../model/moves.ts';
import { nothing, once } from '../../model/once.ts';
import type { PoolName } from '../../model/policy.ts';
import { asStepOf } from '../fault.ts';
import type { SessionRegistry } from '../session-registry.ts';
import { abortedTransaction } from '../messages/aborted-transaction.ts';
import type { Movable, SessionHandle } from '../stage.ts';
import type { Drain, Drains } from './drains.ts';
import type { ParkAnswer } from './parking.ts';

export interface EvictOptions {
  readonly drains: Pick<Drains, 'start' | 'endNow' | 'review'>;
  readonly registry: Pick<SessionRegistry, 'at'>;
  readonly table: () => RoutingTable;
  readonly clock: Clock;
  /** The pool's time from the beginning of a drain to its deadline. Milliseconds. */
  readonly drainTimeoutMs: (pool: PoolName) => number;
  /** As they are now. Undefined: no session moves. */
  readonly moves: () => Pick<MovesPolicy, 'onStays' | 'waitMs' | 'questions'> | undefined;
}

export function evict(actions: readonly Action[], options: EvictOptions): void {
  const { drains } = options;
  for (const action of actions) {
    const drain = drainOf(action, options);
    if (action.mode === 'close') {
      drains.endNow(drain);
      continue;
    }
    for (const session of drain.sessions()) asStepOf(session, () => session.reroute());
    if (action.mode !== 'keep') drains.start(drain);
  }
  drains.review();
}

/** Before the time of a switchover that is scheduled: to cancel a statement, to roll back, and to ask. Milliseconds. */
const ABORT_BEFORE_MS = 600;

function drainOf(action: Action, { registry, table, clock, drainTimeoutMs, moves }: EvictOptions): Drain {
  const { pool, member, address, cause, mode, afterMs } = action;
  const aborts = (): boolean => moves()?.onStays === 'abort';
  const limitMs = (): number | undefined => {
    const { since: dueAt } = action.why;
    if (action.keepsPinned === true && dueAt !== undefined && aborts()) {
      return Math.max(0, dueAt - ABORT_BEFORE_MS - clock.now());
    }
    if (mode === 'drain_idle') return undefined;
    const policy = mode === 'move' ? moves() : undefined;
    const isAfterWait = policy !== undefined && policy.onStays !== 'drain';
    return action.limitMs ?? (isAfterWait ? policy.waitMs : drainTimeoutMs(pool));
  };
  return {
    key: JSON.stringify([pool, member, addressText(address)]),
    member,
    sessions: () => registry.at(pool, member, address),
    end: (session) =>
      action.keepsPinned === true
        ? leaveBeforeSchedule(session, action, clock, aborts())
        : leave(session, action, clock, aborts()),
    isOver: () => isOver(action, table()),
    afterMs,
    limitMs,
    isPrompt: isOperation(cause),
    ...parkingOf(action, clock, moves()),
  };
}

/** For a server that stops. The sessions of any other one go on there until their turn to move has come. */
function parkingOf(
  action: Action,
  clock: Clock,
  moves: Pick<MovesPolicy, 'waitMs' | 'questions'> | undefined,
): Pick<Drain, 'parking'> {
  const { cause, mode, address, keepsPinned } = action;
  const stops = isOperation(cause) || (cause === 'demoted' && mode === 'move' && !isSuperseded(action));
  if (!stops || moves === undefined) return {};
  return {
    parking: {
      // A scheduled switchover, and a primary that somebody else demotes, wait for nobody.
      waitsForAll: isOperation(cause) && keepsPinned !== true,
      waitMs: moves.waitMs,
      questions: moves.questions,
      onStays: (session) => {
        const { reason, detail } = endOf(session, action, clock);
        if (keepsPinned !== true) session.end(reason, `${detail}${whyStayed(session.movable)}`);
      },
      park: (session, onAnswer) => {
        // It has moved since the drain began.
        if (!isSameAddress(session.assignment()?.address, address)) return onAnswer('gone');
        // A server that is stopping may end the session in the middle of a question.
        if (cause === 'demoted' && session.movable?.lose() === true) return onAnswer('gone');
        return askToPark(session.movable, cause, onAnswer);
      },
    },
  };
}

/** The old primary has said nothing itself, and may have confirmed what the next one does not have. */
function isSuperseded({ why }: Action): boolean {
  return why.code === 'superseded';
}

/** `aborts`: an open transaction is ended, and its session moves. */
function leave(session: SessionHandle, action: Action, clock: Clock, aborts: boolean): void {
  const { address, cause, mode } = action;
  if (session.state !== 'relaying') return asStepOf(session, () => session.reroute(true));
  // It has moved since the drain began.
  if (!isSameAddress(session.assignment()?.address, address)) return undefined;
  const isLost = cause === 'dead' || cause === 'silent' || cause === 'demoted';
  if (isLost && session.movable?.lose() === true) return undefined;
  const { reason, detail } = endOf(session, action, clock);
  const mayMove = (isOperation(cause) || mode === 'move') && !isSuperseded(action);
  const { movable } = session;
  if (!mayMove || movable === undefined) return session.end(reason, detail);
  if (!session.isIdle())
    return aborts && !isLost ? abort(session, movable, action, clock) : session.end(reason, detail);
  return movable.request(cause, (progress) => {
    if (progress.kind === 'stayed') session.end(reason, `${detail}${stayedText(progress)}`);
  });
}

/**
 * A session that cannot move stays, and its server ends it. `aborts`: but not one whose transaction was rolled back.
 */
function leaveBeforeSchedule(session: SessionHandle, action: Action, clock: Clock, aborts: boolean): void {
  const { movable, state } = session;
  if (movable === undefined || state !== 'relaying') return undefined;
  if (session.isIdle() || !aborts) return movable.request(action.cause, nothing);
  return abort(session, movable, action, clock);
}

function abort(session: SessionHandle, movable: Movable, action: Action, clock: Clock): void {
  const { reason, detail } = endOf(session, action, clock);
  return movable.abort(action.cause, abortedTransaction(detail), (progress) => {
    if (progress.kind === 'stayed') session.end(reason, `${detail}${stayedText(progress)}`);
  });
}

/** Calls `onAnswer` once, when the session is parked, has ended, or stays. */
function askToPark(movable: Movable | undefined, cause: EvictionCause, onAnswer: (answer: ParkAnswer) => void): void {
  if (movable === undefined) return onAnswer('stays');
  const answer = once(onAnswer);
  return movable.request(cause, (progress) => {
    if (progress.kind !== 'stayed') answer('gone');
    else answer(progress.reason === 'busy' ? 'busy' : 'stays');
  });
}

/** For the DETAIL of a session that ends although sessions move. Empty: it is not known. */
function whyStayed(movable: Movable | undefined): string {
  const found = movable?.shown().found?.movability;
  return found?.kind === 'pinned' ? stayedText(found) : '';
}

function stayedText({ reason, detail }: { readonly reason: PinReason; readonly detail?: string | undefined }): string {
  return `; the session could not move, because it ${pinText(reason, detail)}`;
}

/** The end of a session that stays at the server. */
function endOf(
  session: SessionHandle,
  action: Action,
  clock: Clock,
): { readonly reason: EvictionReason; readonly detail: string } {
  const { member, cause } = action;
  // A switchover reports which sessions it ended between two transactions, and which it cut.
  const isCut = cause === 'switchover' && !session.isIdle();
  const reason = isCut ? 'evicted_switchover_timeout' : evictionReason(cause);
  return { reason, detail: `${member}${because(action, clock)}` };
}

/** Behind the name of the member. */
function because({ pool, cause, why }: Action, clock: Clock): string {
  if (cause === 'removed' && why.code === 'never_answered') return ': is no longer there';
  if (cause === 'promoted') return ` was promoted and left pool ${pool}`;
  return `: ${describeStanding({ kind: 'leave', cause, why }, clock.now())}`;
}
