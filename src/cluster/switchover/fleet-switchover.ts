// A switchover in which every Pointsman of the cluster takes part: the cluster schedules it, a little ahead, and each
// Pointsman reads the schedule in /cluster. Each holds its clients and parks its sessions by it (core/
// operator-override.ts), and releases them by its own evidence, this one too. So there is no handover: the operation
// asks, watches, and tells how it ended.
import { durationText } from '../../core/describe.ts';
import { OVERDUE_MS } from '../../core/operator-override.ts';
import { openRoute } from '../../core/routing-table.ts';
import type { Instant } from '../../model/instant.ts';
import type { MemberName } from '../../model/member.ts';
import { nothing } from '../../model/once.ts';
import type { ReportedEvent } from '../../reports/events.ts';
import type { OperationResult } from '../../documents/cluster-documents.ts';
import type { OperationDocument } from '../../documents/switchover-document.ts';
import { OperationRecord, type SwitchoverEnd } from './operation-record.ts';
import { planSwitchover, readCluster, scheduledAheadMs, SWITCH_MS, type HeldSwitchoverRequest } from './plan.ts';
import { CHECK_MS, type ProcedureOptions } from './procedure.ts';
import { cameBack, isRefusal, nextPrimary, whyNotPrimary } from './switchover-evidence.ts';

/** Milliseconds. */
const POLL_MS = 100;
/** For one request to the cluster. */
const REQUEST_MS = 10_000;
/** For the request that takes the schedule back when the program ends. */
const LAST_REQUEST_MS = 2_000;
/** A schedule that is gone was carried out, if the primary steps down within this time. */
const GONE_MS = 4_000;
/** Patroni sleeps in its last round before the time (at most its loop_wait), and then asks nobody. */
const LATE_MS = 10_000;

export class FleetSwitchover {
  readonly #record: OperationRecord;
  readonly #request: HeldSwitchoverRequest;
  readonly #site: ProcedureOptions;
  /** `due`: by the newest list of members; `gone`: since when no list has the schedule. */
  readonly #at: { [moment in 'requested' | 'due' | 'gone' | 'held' | 'steppedDown' | 'proven']?: Instant | undefined } =
    {};
  #cancels = 0;
  #cancelledBy: string | undefined;

  constructor(id: string, request: HeldSwitchoverRequest, site: ProcedureOptions) {
    this.#record = new OperationRecord(id, request, site);
    this.#request = request;
    this.#site = site;
  }

  /** Resolves at the end. Never rejects. Call once. */
  run(): Promise<void> {
    return this.#record.run(() => this.#perform(), nothing);
  }

  /** Takes the schedule back, until its time has come. Later the proof is awaited; a second call ends the operation. */
  cancel(by: string): void {
    this.#cancels += 1;
    this.#cancelledBy ??= by;
    this.#record.changes.tell();
  }

  /** The program ends. */
  abandon(by: string): void {
    this.#record.abandon();
    this.cancel(by);
  }

  /** The routing table has changed. */
  tableChanged(): void {
    this.#notice();
    this.#record.changes.tell();
  }

  take(event: ReportedEvent): void {
    this.#record.take(event);
  }

  /** A reload does not take the schedule back. */
  isRequested(): boolean {
    return this.#at.requested !== undefined;
  }

  document(): OperationDocument {
    const { phases } = this.#record;
    const { due, held, steppedDown, proven } = this.#at;
    return this.#record.document(true, {
      held_ms: phases.span(held, proven),
      switch_ms: proven === undefined ? null : phases.span(due, proven),
      without_primary_ms: proven === undefined ? null : phases.span(steppedDown, proven),
    });
  }

  async #perform(): Promise<SwitchoverEnd> {
    const { control, known } = this.#site;
    const isOver = (): boolean => this.#cancels > 0;
    const read = await this.#record.changes.settled(readCluster(control), CHECK_MS, isOver);
    if (isOver()) return this.#cancelled('');
    if (read === undefined)
      return { outcome: 'refused', why: `the cluster did not answer within ${durationText(CHECK_MS)}` };
    const { problems, from } = planSwitchover(this.#request, known(), read);
    if (problems.length > 0 || from === null) return { outcome: 'refused', why: problems.join('; ') };
    this.#record.from = from;
    return (await this.#schedule(from)) ?? (await this.#watch(from));
  }

  /** Undefined: the cluster has the schedule, or may have it. */
  async #schedule(from: MemberName): Promise<SwitchoverEnd | undefined> {
    this.#record.phases.enter('schedule');
    const { clock, wallClock, control, known, hint } = this.#site;
    const { to } = this.#request;
    const aheadMs = scheduledAheadMs(known());
    this.#at.requested = clock.now();
    const asked = control.perform({
      kind: 'switchover',
      leader: from,
      ...(to === undefined ? {} : { candidate: to }),
      scheduled_at: new Date(wallClock() + aheadMs).toISOString(),
    });
    const answer = await this.#record.changes.settled(asked, REQUEST_MS);
    if (answer !== undefined && isRefusal(answer)) return { outcome: 'failed', why: answer.text };
    hint();
    const seen = await this.#record.changes.when(
      aheadMs,
      () => this.#isScheduled(from) || this.#cancels > 0 || whyNotPrimary(known(), from) !== undefined || undefined,
    );
    if (seen !== undefined) return undefined;
    const why = answer === undefined ? 'the request has no answer' : answer.text;
    return { outcome: 'failed', why: `no list of members has the schedule: ${why}${await this.#takenBack()}` };
  }

  /** Until the table proves another primary, or the schedule has come to nothing. */
  async #watch(from: MemberName): Promise<SwitchoverEnd> {
    const { known, sessions } = this.#site;
    for (;;) {
      this.#notice();
      const end = this.#endNow(from);
      if (end !== undefined) return end;
      if (this.#cancels > (this.#isDue() ? 1 : 0)) return this.#cancelled(await this.#takenBack());
      await this.#enterPhase(from, known().policy.hold.beforeSwitchoverMs);
      this.#record.tally()?.left((await sessions(from)).onMember);
      await this.#record.changes.next(POLL_MS);
    }
  }

  async #enterPhase(from: MemberName, beforeMs: number): Promise<void> {
    const { clock, known, sessions } = this.#site;
    const { due, gone, steppedDown } = this.#at;
    const phase = this.#record.phases.current();
    const isHeld = gone === undefined && due !== undefined && clock.now() >= due - beforeMs;
    if (phase === 'schedule' && isHeld) {
      const { table } = known();
      // By now the pools of the primary may be closed already.
      const pools = [...table.pools.keys()].filter((pool) =>
        (openRoute(table, pool)?.targets ?? [{ member: from }]).some(({ member }) => member === from),
      );
      this.#at.held = clock.now();
      const tally = this.#record.counts(from, pools);
      this.#record.phases.enter('hold');
      tally.drainBegins((await sessions(from)).onMember);
    } else if (phase === 'hold' && this.#isDue()) this.#record.phases.enter('switch');
    else if (phase === 'switch' && steppedDown !== undefined) this.#record.phases.enter('confirm');
  }

  /** Undefined: not known yet. The table counts. */
  #endNow(from: MemberName): SwitchoverEnd | undefined {
    const own = this.#site.known();
    const { to } = this.#request;
    const { due, gone, steppedDown } = this.#at;
    const now = this.#site.clock.now();
    const next = nextPrimary(own, from);
    if (next !== undefined) {
      const other = to === undefined || to === next ? '' : ` instead of ${to}`;
      const early = due !== undefined && !this.#isDue() ? ', before the time of the switchover' : '';
      return { outcome: 'done', why: `${next} is the primary${other}${early}` };
    }
    if (cameBack(own, from, steppedDown)) {
      return { outcome: 'failed', why: `${from} stepped down and is the primary again` };
    }
    if (steppedDown === undefined) {
      if (gone !== undefined && now - gone >= GONE_MS) return { outcome: 'failed', why: this.#whyNothing(from, now) };
      const isOverdue = due !== undefined && now >= due + OVERDUE_MS;
      return isOverdue
        ? { outcome: 'failed', why: `${from} is still the primary ${durationText(OVERDUE_MS)} after the time` }
        : undefined;
    }
    const limitMs = OVERDUE_MS + SWITCH_MS;
    const isLate = now >= Math.max(steppedDown, due ?? steppedDown) + limitMs;
    const why = `no primary other than ${from} was proven within ${durationText(limitMs)}`;
    return isLate ? { outcome: 'unknown', why } : undefined;
  }

  #whyNothing(from: MemberName, now: Instant): string {
    const { due = now } = this.#at;
    return now - GONE_MS < due
      ? `somebody has cancelled the schedule; ${from} stays the primary`
      : `the cluster did not carry out the schedule: no member could follow ${from}, or it was cancelled`;
  }

  #isScheduled(from: MemberName): boolean {
    return this.#site.known().snapshot.switchover?.leader === from;
  }

  #isDue(): boolean {
    const { due } = this.#at;
    return due !== undefined && this.#site.clock.now() >= due;
  }

  #notice(): void {
    const [from, { clock, known }] = [this.#record.from, this.#site];
    if (from === undefined || this.#record.isDecided()) return;
    const own = known();
    const scheduled = this.#isScheduled(from) ? own.snapshot.switchover : undefined;
    if (scheduled !== undefined) {
      this.#at.due = scheduled.at;
      this.#at.gone = undefined;
    } else if (this.#at.due !== undefined) this.#at.gone ??= clock.now();
    if (whyNotPrimary(own, from) !== undefined) this.#at.steppedDown ??= clock.now();
    if (nextPrimary(own, from) !== undefined) this.#at.proven ??= clock.now();
  }

  /** The rest of a sentence. */
  async #takenBack(): Promise<string> {
    const { clock, control, hint } = this.#site;
    const asked = control.perform({ kind: 'cancel_switchover' });
    const answer = await this.#record.changes.settled(asked, this.#record.isAbandoned() ? LAST_REQUEST_MS : REQUEST_MS);
    hint();
    const { due } = this.#at;
    if (answer === undefined || isRefusal(answer)) return `; the schedule was not taken back: ${whyNot(answer)}`;
    const isLate = due !== undefined && clock.now() > due - LATE_MS;
    return isLate ? '; the schedule was taken back late, and the cluster may still switch' : '';
  }

  #cancelled(rest: string): SwitchoverEnd {
    return { outcome: 'cancelled', why: `by ${this.#cancelledBy ?? 'the operator'}${rest}` };
  }
}

function whyNot(answer: OperationResult | undefined): string {
  return answer === undefined ? 'the cluster did not answer' : answer.text;
}
