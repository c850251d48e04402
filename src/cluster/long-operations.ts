// The operations that take a while: one at a time. The last ones are kept for later questions, in memory only.
import { staysText } from '../core/pin-words.ts';
import type { Instant } from '../model/instant.ts';
import type { MemberName } from '../model/member.ts';
import type { ReportedEvent } from '../reports/events.ts';
import type { OperationEvent } from '../reports/operation-events.ts';
import type { PreflightEvent } from '../reports/move-events.ts';
import type { Preflight } from '../reports/preflight.ts';
import type { OperationDocument, PlanOfPrimary } from '../documents/switchover-document.ts';
import { FleetSwitchover } from './switchover/fleet-switchover.ts';
import { Switchover, type ProcedureOptions } from './switchover/procedure.ts';
import { isOfFleet, planSwitchover, readCluster, type HeldSwitchoverRequest } from './switchover/plan.ts';

export interface LongOperationsOptions {
  readonly site: Omit<ProcedureOptions, 'onPhase'>;
  /** The number of sessions on the member whose encryption hides when they are idle. */
  readonly unreadable: (member: MemberName) => Promise<number>;
  /** Which sessions on the member can move. Undefined: `moves` is not configured. Takes some seconds, never rejects. */
  readonly preflight: (member: MemberName) => Promise<Preflight | undefined>;
  /** Why sessions of the member could not log in again elsewhere, one sentence each. Never rejects. */
  readonly verifierFaults: (member: MemberName) => Promise<readonly string[]>;
  /** In [0, 1). */
  readonly random: () => number;
  readonly onEvent: (event: OperationEvent | PreflightEvent) => void;
  /** The result releases the lock. Undefined: another one runs. */
  readonly enter: (what: string) => (() => void) | undefined;
}

export type OperationStart =
  | { readonly kind: 'started'; readonly operation: OperationDocument }
  /** `operation`: absent when the other one is a single request. */
  | { readonly kind: 'busy'; readonly operation?: OperationDocument | undefined };

export type CancelResult =
  | { readonly kind: 'cancelled' | 'ended'; readonly operation: OperationDocument }
  | { readonly kind: 'unknown' };

const MOST_KEPT = 20;
/** Anybody may read the plan, and a preflight asks the primary one question for each session. Milliseconds. */
const PREFLIGHT_AGE_MS = 5_000;
/** The same when the sessions are others by now: an operator who looks again must not read that none moves. */
const CHANGED_PREFLIGHT_AGE_MS = 1_000;

/** The sessions on one member, for the plans of some seconds. */
interface AskedSessions {
  readonly member: MemberName;
  readonly at: Instant;
  readonly counted: Promise<Preflight | undefined>;
  readonly faults: Promise<readonly string[]>;
  /** Undefined: they are asked now. */
  total: number | undefined;
}

export class LongOperations {
  readonly #options: LongOperationsOptions;
  /** Oldest first. The running one is the last. */
  readonly #kept = new Map<string, Switchover | FleetSwitchover>();
  /** Under way: callers at the same time share it, because members answer few requests at once. */
  #reading: ReturnType<typeof readCluster> | undefined;
  #asked: AskedSessions | undefined;
  #running:
    | { readonly id: string; readonly switchover: Switchover | FleetSwitchover; readonly ended: Promise<void> }
    | undefined;

  constructor(options: LongOperationsOptions) {
    this.#options = options;
  }

  /** Reads the cluster, and changes nothing. */
  async plan(request: HeldSwitchoverRequest): Promise<PlanOfPrimary> {
    const { site, unreadable } = this.#options;
    this.#reading ??= readCluster(site.control).finally(() => (this.#reading = undefined));
    const read = await this.#reading;
    const plan = planSwitchover(request, site.known(), read);
    const { from, warnings } = plan;
    if (from === null) {
      return {
        ...plan,
        sessions_on_primary: null,
        unreadable_sessions_on_primary: null,
        moves: null,
        stays_text: null,
      };
    }
    const { onMember } = await site.sessions(from);
    const { counted, faults } = this.#askedOf(from, onMember);
    const [moves, unread] = await Promise.all([counted, faults]);
    const { maxSessions } = site.known().policy.hold;
    const ending = Math.max(0, onMember - (moves?.movable ?? 0));
    const tooMany = `${ending} sessions will end, and ${maxSessions} clients may wait (hold.max_sessions)`;
    return {
      ...plan,
      warnings: [...warnings, ...unread, ...(ending > maxSessions ? [tooMany] : [])],
      sessions_on_primary: onMember,
      unreadable_sessions_on_primary: await unreadable(from),
      moves: moves ?? null,
      stays_text: staysText(moves?.stays ?? {}) || null,
    };
  }

  start(request: HeldSwitchoverRequest): OperationStart {
    const { site, random, onEvent, enter } = this.#options;
    const leave = enter('switchover');
    if (leave === undefined) return { kind: 'busy', operation: this.#running?.switchover.document() };
    const id = newId(random);
    onEvent({ kind: 'operation_started', operation: id, what: 'switchover', to: request.to });
    const Procedure = isOfFleet(request, site.known()) ? FleetSwitchover : Switchover;
    const switchover = new Procedure(id, request, {
      ...site,
      onPhase: (phase, before) =>
        onEvent({
          kind: 'operation_phase',
          operation: id,
          what: 'switchover',
          phase,
          ...(before === undefined ? {} : { before: before.phase, beforeMs: before.duration_ms ?? 0 }),
        }),
    });
    this.#kept.set(id, switchover);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MOST_KEPT && oldest !== undefined) this.#kept.delete(oldest);
    this.#running = { id, switchover, ended: this.#run(switchover, leave) };
    return { kind: 'started', operation: switchover.document() };
  }

  /** Newest first. */
  list(): readonly OperationDocument[] {
    return [...this.#kept.values()].toReversed().map((operation) => operation.document());
  }

  find(id: string): OperationDocument | undefined {
    return this.#kept.get(id)?.document();
  }

  /** See Switchover.cancel. `by`: `the operator`. */
  cancel(id: string, by: string): CancelResult {
    const known = this.#kept.get(id);
    if (known === undefined) return { kind: 'unknown' };
    if (this.#running?.id !== id) return { kind: 'ended', operation: known.document() };
    known.cancel(by);
    return { kind: 'cancelled', operation: known.document() };
  }

  /** A new configuration applies: what was checked against the old one does not begin. A sent request goes on. */
  reloaded(): void {
    const switchover = this.#running?.switchover;
    if (switchover?.isRequested() === false) switchover.cancel('a reload of the configuration');
  }

  /** The program ends. Resolves when nothing runs. */
  async stop(): Promise<void> {
    this.#running?.switchover.abandon('the shutdown of Pointsman');
    await this.#running?.ended;
  }

  /** The routing table has changed. */
  tableChanged(): void {
    this.#running?.switchover.tableChanged();
  }

  take(event: ReportedEvent): void {
    this.#running?.switchover.take(event);
  }

  async #run(switchover: Switchover | FleetSwitchover, leave: () => void): Promise<void> {
    await switchover.run();
    this.#running = undefined;
    leave();
    this.#tellEnd(switchover.document());
  }

  /** `sessions`: on the member now. */
  #askedOf(member: MemberName, sessions: number): AskedSessions {
    const { site, preflight, verifierFaults, onEvent } = this.#options;
    const known = this.#asked;
    const now = site.clock.now();
    if (known?.member === member && now - known.at < ageOf(known.total, sessions)) return known;
    const counted = preflight(member).then((found) => {
      if (found === undefined) return found;
      asked.total = totalOf(found);
      onEvent({ kind: 'preflight_finished', member, ...found, durationMs: site.clock.now() - now });
      return found;
    });
    const asked: AskedSessions = { member, at: now, counted, faults: verifierFaults(member), total: undefined };
    this.#asked = asked;
    return asked;
  }

  #tellEnd({ id, outcome, why, duration_ms, phase, sessions, from, primary, phases }: OperationDocument): void {
    this.#options.onEvent({
      kind: 'operation_ended',
      operation: id,
      what: 'switchover',
      outcome: outcome ?? 'failed',
      why: why ?? '',
      durationMs: duration_ms,
      phase: phases.at(-2)?.phase ?? phase,
      from: from ?? undefined,
      primary: primary ?? undefined,
      held: sessions.held,
      ended: sessions.ended,
      cut: sessions.cut,
      moved: sessions.moved,
    });
  }
}

/** How old a preflight may be whose sessions were `total`. Milliseconds. */
function ageOf(total: number | undefined, sessions: number): number {
  const isAsMany = total === undefined || Math.abs(total - sessions) * 10 <= sessions;
  return isAsMany ? PREFLIGHT_AGE_MS : CHANGED_PREFLIGHT_AGE_MS;
}

function totalOf({ movable, stays, unknown }: Preflight): number {
  return Object.values(stays).reduce((sum, count) => sum + count, movable + unknown);
}

/** Not a number: an id from before a restart must not name another operation. */
function newId(random: () => number): string {
  return random().toString(36).slice(2, 10).padEnd(8, '0');
}
