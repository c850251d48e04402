// A switchover that holds clients, from the check to the release. New clients of the primary wait from `hold` on, its
// sessions end in `drain`, and only then the cluster is asked to switch. Whatever happens, the hold ends with the
// procedure: the clients go where the evidence leads. A time limit in the snapshot ends it even without the procedure.
// Sessions that can move are parked in `drain` instead of ending. They go on as soon as the table has a primary, which
// is the old one again if the switchover does not happen.
import { durationText } from '../../core/describe.ts';
import { openRoute } from '../../core/routing-table.ts';
import type { Handover } from '../../core/snapshot.ts';
import type { Instant } from '../../model/instant.ts';
import type { MemberName } from '../../model/member.ts';
import type { PoolName } from '../../model/policy.ts';
import type { ReportedEvent } from '../../reports/events.ts';
import type { ClusterControl } from '../control.ts';
import type { OperationResult } from '../../documents/cluster-documents.ts';
import type { OperationDocument, PlanDocument } from '../../documents/switchover-document.ts';
import { cameBack, stayedPrimary, nextPrimary, whyNotPrimary, whyPointless, isRefusal } from './switchover-evidence.ts';
import { OperationRecord, type SwitchoverEnd } from './operation-record.ts';
import type { PhasesOptions } from './phases.ts';
import { planSwitchover, readCluster, type OwnKnowledge, type HeldSwitchoverRequest } from './plan.ts';

/** The parts of the program that a switchover needs. */
export interface ProcedureOptions extends PhasesOptions {
  readonly control: Pick<ClusterControl, 'report' | 'config' | 'perform'>;
  readonly known: () => OwnKnowledge;
  /** Reads the list of members soon. */
  readonly hint: () => void;
  /** Synchronous. Undefined: the handover is over. */
  readonly handOver: (handover: Handover | undefined) => void;
  /** Sessions on the member in all processes, and clients that connect to a server now. Never rejects. */
  readonly sessions: (member: MemberName) => Promise<{ readonly onMember: number; readonly connecting: number }>;
}

/** Limits of the phases. Milliseconds. */
export const CHECK_MS = 15_000;
/** Sessions that connect to the primary when the hold begins arrive, or wait, within this time. */
const HOLD_MS = 500;
/** After the end of the time for transactions: workers report with a delay. */
const DRAIN_SLACK_MS = 500;
/** The same with `on_stays: abort`: statements are cancelled, transactions rolled back, and their sessions parked. */
const ABORT_SLACK_MS = 2_000;
/** How often the number of sessions is read. */
const POLL_MS = 25;

export class Switchover {
  readonly #record: OperationRecord;
  readonly #request: HeldSwitchoverRequest;
  readonly #site: ProcedureOptions;
  readonly #at: { [moment in 'held' | 'released' | 'requested' | 'steppedDown' | 'proven']?: Instant } = {};
  #cancelledBy: string | undefined;

  constructor(id: string, request: HeldSwitchoverRequest, site: ProcedureOptions) {
    this.#record = new OperationRecord(id, request, site);
    this.#request = request;
    this.#site = site;
  }

  /** Resolves at the end. Never rejects. Call once. */
  run(): Promise<void> {
    return this.#record.run(
      () => this.#perform(),
      () => this.#release(),
    );
  }

  /**
   * Ends the hold synchronously. The request to switch cannot be taken back, and clients that are released behind it
   * meet a primary that stops: then only a second call ends the hold. `by`: for the document.
   */
  cancel(by: string): void {
    const isRepeated = this.#cancelledBy !== undefined;
    this.#cancelledBy ??= by;
    if (!this.isRequested() || isRepeated || this.#record.isAbandoned()) this.#release();
    this.#record.changes.tell();
  }

  /** The program ends: cancels, and does not wait for the report of the cluster. */
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

  /** The request to switch was sent: it cannot be taken back. */
  isRequested(): boolean {
    return this.#at.requested !== undefined;
  }

  document(): OperationDocument {
    const { phases } = this.#record;
    const { held, released, requested, steppedDown, proven } = this.#at;
    return this.#record.document(false, {
      held_ms: phases.span(held, released),
      switch_ms: proven === undefined ? null : phases.span(requested, proven),
      without_primary_ms: proven === undefined ? null : phases.span(steppedDown, proven),
    });
  }

  async #perform(): Promise<SwitchoverEnd> {
    const plan = await this.#check();
    if (this.#cancelledBy !== undefined) return this.#cancelled();
    if (plan === undefined)
      return { outcome: 'refused', why: `the cluster did not answer within ${durationText(CHECK_MS)}` };
    const [problem] = plan.problems;
    if (problem !== undefined || plan.from === null) return { outcome: 'refused', why: plan.problems.join('; ') };
    this.#record.from = plan.from;
    return (
      (await this.#hold(plan.from, plan.longest_hold_ms)) ??
      (await this.#drain(plan.from, plan.longest_hold_ms)) ??
      // A cancel may have come since the last look.
      this.#whyEarly(plan.from) ??
      (await this.#switch(plan.from, plan.longest_hold_ms))
    );
  }

  async #check(): Promise<PlanDocument | undefined> {
    const { control, known } = this.#site;
    const read = await this.#record.changes.settled(
      readCluster(control),
      CHECK_MS,
      () => this.#cancelledBy !== undefined,
    );
    return read && planSwitchover(this.#request, known(), read);
  }

  async #hold(from: MemberName, mostMs: number): Promise<SwitchoverEnd | undefined> {
    this.#record.phases.enter('hold');
    const { table } = this.#site.known();
    const isServed = (pool: PoolName): boolean =>
      openRoute(table, pool)?.targets.some(({ member }) => member === from) === true;
    this.#record.counts(from, [...table.pools.keys()].filter(isServed));
    this.#at.held = this.#site.clock.now();
    this.#handOver(from, 'hold', mostMs);
    return this.#whileSessions(from, HOLD_MS, ({ connecting }) => connecting === 0);
  }

  async #drain(from: MemberName, mostMs: number): Promise<SwitchoverEnd | undefined> {
    this.#record.phases.enter('drain');
    const { onMember } = await this.#site.sessions(from);
    const early = this.#whyEarly(from);
    if (early !== undefined) return early;
    this.#record.tally()?.drainBegins(onMember);
    this.#handOver(from, 'drain', mostMs);
    const slackMs = this.#site.known().policy.moves?.onStays === 'abort' ? ABORT_SLACK_MS : DRAIN_SLACK_MS;
    return this.#whileSessions(from, this.#request.transactionMs + slackMs, (sessions) => {
      this.#record.tally()?.left(sessions.onMember);
      return sessions.onMember === 0;
    });
  }

  async #switch(from: MemberName, mostMs: number): Promise<SwitchoverEnd> {
    this.#record.phases.enter('switch');
    const { clock, control } = this.#site;
    const { to } = this.#request;
    const requestedAt = clock.now();
    this.#at.requested = requestedAt;
    let answer: OperationResult | undefined;
    const asked = control.perform({ kind: 'switchover', leader: from, ...(to === undefined ? {} : { candidate: to }) });
    void asked.then(
      (result) => this.#answered((answer = result)),
      (error: unknown) =>
        this.#answered((answer = { kind: 'no_answer', text: String(error), may_have_happened: true })),
    );
    const limitMs = (this.#at.held ?? requestedAt) + mostMs - requestedAt;
    const end = await this.#record.changes.when(limitMs, () => this.#switched(from, requestedAt, answer));
    return end ?? this.#unproven(from, answer, limitMs);
  }

  #answered(answer: OperationResult): void {
    if (!isRefusal(answer)) this.#confirm();
    this.#record.changes.tell();
  }

  /** The old primary has stepped down, or the cluster says so. */
  #confirm(): void {
    if (this.#record.phases.current() === 'switch') this.#record.phases.enter('confirm');
  }

  /** Undefined: not known yet. The table counts, whatever the answer was. */
  #switched(from: MemberName, requestedAt: Instant, answer: OperationResult | undefined): SwitchoverEnd | undefined {
    const { clock, known } = this.#site;
    const { to } = this.#request;
    const next = nextPrimary(known(), from);
    if (next !== undefined) {
      const other = to === undefined || to === next ? '' : ` instead of ${to}`;
      return { outcome: 'done', why: `${next} is the primary${other}` };
    }
    // Before the end only a cancel releases.
    if (this.#at.released !== undefined) return this.#cancelled();
    if (answer !== undefined && isRefusal(answer)) return { outcome: 'failed', why: answer.text };
    if (cameBack(known(), from, this.#at.steppedDown)) {
      return { outcome: 'failed', why: `${from} stepped down and is the primary again` };
    }
    if (stayedPrimary(known(), from, requestedAt, clock.now())) {
      return { outcome: 'failed', why: `${from} did not answer for a while and is still the primary` };
    }
    return undefined;
  }

  #unproven(from: MemberName, answer: OperationResult | undefined, limitMs: number): SwitchoverEnd {
    const told = answer === undefined ? 'the request has no answer yet' : answer.text;
    const limit = durationText(Math.max(0, limitMs));
    return { outcome: 'unknown', why: `no primary other than ${from} was proven within ${limit}: ${told}` };
  }

  /** Undefined: `isOver`, or the time is. */
  async #whileSessions(
    from: MemberName,
    limitMs: number,
    isOver: (sessions: Awaited<ReturnType<ProcedureOptions['sessions']>>) => boolean,
  ): Promise<SwitchoverEnd | undefined> {
    const { clock, sessions } = this.#site;
    const endsAt = clock.now() + limitMs;
    for (;;) {
      const now = await sessions(from);
      const early = this.#whyEarly(from);
      if (early !== undefined) return early;
      if (isOver(now) || clock.now() >= endsAt) return undefined;
      await this.#record.changes.next(Math.min(POLL_MS, endsAt - clock.now()));
    }
  }

  /** Before the request: something happened that makes it pointless. */
  #whyEarly(from: MemberName): SwitchoverEnd | undefined {
    if (this.#cancelledBy !== undefined) return this.#cancelled();
    const why = whyPointless(this.#site.known(), from, this.#request.to);
    return why === undefined ? undefined : { outcome: 'failed', why };
  }

  #cancelled(): SwitchoverEnd {
    const sent = this.isRequested() ? '; the request was sent, and the cluster may still switch' : '';
    return { outcome: 'cancelled', why: `by ${this.#cancelledBy ?? 'the operator'}${sent}` };
  }

  #handOver(member: MemberName, phase: Handover['phase'], mostMs: number): void {
    const since = this.#at.held ?? this.#site.clock.now();
    const { transactionMs } = this.#request;
    this.#site.handOver({ operation: 'switchover', member, phase, since, mostMs, transactionMs });
  }

  #release(): void {
    if (this.#at.held === undefined || this.#at.released !== undefined) return;
    this.#at.released = this.#site.clock.now();
    this.#site.handOver(undefined);
  }

  /** Held clients are released by the table itself. */
  #notice(): void {
    const [from, { clock }] = [this.#record.from, this.#site];
    if (from === undefined || this.#at.requested === undefined || this.#at.proven !== undefined) return;
    const own = this.#site.known();
    if (this.#at.steppedDown === undefined && whyNotPrimary(own, from) !== undefined) {
      this.#at.steppedDown = clock.now();
      this.#confirm();
    }
    if (nextPrimary(own, from) !== undefined) this.#at.proven = clock.now();
  }
}
