// Counts the sessions that a switchover touches, from the events of the proxy.
import { WaitGroup, isHold } from '../../history/waiting-clients.ts';
import { CLOSE_REASONS, isMoveFailure } from '../../model/close-reason.ts';
import type { MemberName } from '../../model/member.ts';
import type { PoolName } from '../../model/policy.ts';
import type { EventOf, ReportedEvent } from '../../reports/events.ts';
import type { SwitchoverSessions } from '../../documents/switchover-document.ts';

export class SessionTally {
  readonly #member: MemberName;
  readonly #pools: ReadonlySet<PoolName>;
  #isDraining = false;
  #atStart = 0;
  /** Left on the member, connecting or relaying. */
  #left = 0;
  readonly #waits = new WaitGroup();
  #cut = 0;
  #lost = 0;
  /** Ended by their clients during the drain. */
  #closed = 0;
  /** Each session that was parked, and the ones that are parked or moving now. */
  readonly #parked = new Set<number>();
  readonly #parkedNow = new Set<number>();
  /** The transaction of these was rolled back: they go on when their clients say something. */
  readonly #abortedNow = new Set<number>();
  #aborted = 0;
  #moved = 0;
  #moveFailed = 0;

  /** `pools`: those that the member serves. Clients that wait for any other one do not wait for the switchover. */
  constructor(member: MemberName, pools: Iterable<PoolName>) {
    this.#member = member;
    this.#pools = new Set(pools);
  }

  take(event: ReportedEvent): void {
    if (isHold(event)) {
      if (this.#pools.has(event.pool)) this.#waits.take(event);
    } else if (event.kind === 'session_parked' && event.member === this.#member && event.cause === 'switchover') {
      this.#parked.add(event.session);
      this.#parkedNow.add(event.session);
      if (event.hasAborted !== true) return;
      this.#aborted += 1;
      this.#abortedNow.add(event.session);
    } else if (event.kind === 'session_moved') {
      if (this.#leaves(event.session)) this.#moved += 1;
    } else if (event.kind === 'session_closed') {
      if (this.#leaves(event.session)) this.#moveFailed += isMoveFailure(event.reason) ? 1 : 0;
      else if (event.member === this.#member && this.#isDraining) this.#takeEnd(event.reason);
    }
  }

  /** `sessions`: on the member now. */
  drainBegins(sessions: number): void {
    this.#isDraining = true;
    this.#atStart = sessions;
    this.#left = sessions;
  }

  left(sessions: number): void {
    this.#left = Math.min(this.#left, sessions);
  }

  /** Sessions that go on as soon as the next server is there. */
  parkedNow(): number {
    return this.#parkedNow.size - this.#abortedNow.size;
  }

  /**
   * The event of a session comes only when its client has read the message. So the sessions that were ended are the
   * ones that are gone from the member for no other reason.
   */
  document(): SwitchoverSessions {
    const gone = this.#atStart - this.#left;
    return {
      at_start: this.#atStart,
      held: this.#waits.count(),
      waiting: this.#waits.now(),
      longest_wait_ms: Math.round(this.#waits.longestMs()),
      not_served: this.#waits.ended('timeout', 'refused'),
      ended: Math.max(0, gone - this.#cut - this.#lost - this.#closed - this.#parked.size),
      parked: this.#parked.size,
      aborted: this.#aborted,
      moved: this.#moved,
      move_failed: this.#moveFailed,
      cut: this.#cut,
      lost: this.#lost,
    };
  }

  /** True: it was parked. */
  #leaves(session: number): boolean {
    this.#abortedNow.delete(session);
    return this.#parkedNow.delete(session);
  }

  #takeEnd(reason: EventOf<'session_closed'>['reason']): void {
    if (CLOSE_REASONS[reason].side === 'client') this.#closed += 1;
    else if (reason === 'evicted_switchover_timeout') this.#cut += 1;
    else if (reason !== 'evicted_switchover') this.#lost += 1;
  }
}
