// The record of one switchover, of either kind: its phases, the sessions that it touches, its end, and the document of
// them. After the end it waits for the sessions that are still parked.
import { openPrimary } from '../../core/primary-pools.ts';
import type { MemberName } from '../../model/member.ts';
import type { PoolName } from '../../model/policy.ts';
import type { ReportedEvent } from '../../reports/events.ts';
import type { OperationOutcome } from '../../reports/operation-events.ts';
import type { ClusterReport } from '../../documents/cluster-documents.ts';
import type { OperationDocument } from '../../documents/switchover-document.ts';
import { ChangeWaiter } from './change-waiter.ts';
import { Phases, type PhasesOptions } from './phases.ts';
import type { HeldSwitchoverRequest, OwnKnowledge } from './plan.ts';
import { SessionTally } from './session-tally.ts';
import type { ClusterControl } from '../control.ts';

export interface OperationRecordOptions extends PhasesOptions {
  readonly control: Pick<ClusterControl, 'report'>;
  readonly known: () => OwnKnowledge;
  /** Sessions on the member in all processes. Never rejects. */
  readonly sessions: (member: MemberName) => Promise<{ readonly onMember: number }>;
}

export interface SwitchoverEnd {
  readonly outcome: OperationOutcome;
  readonly why: string;
}

type Durations = Pick<OperationDocument, 'held_ms' | 'switch_ms' | 'without_primary_ms'>;

/** For the state of the cluster at the end. Milliseconds. */
const REPORT_MS = 5_000;
/** After the time that a parked session may wait: it ends, and its worker reports that. */
const MOVE_SLACK_MS = 5_000;

export class OperationRecord {
  readonly changes: ChangeWaiter;
  readonly phases: Phases;
  /** The primary that hands over. */
  from: MemberName | undefined;
  readonly #id: string;
  readonly #request: HeldSwitchoverRequest;
  readonly #options: OperationRecordOptions;
  #tally: SessionTally | undefined;
  #isAbandoned = false;
  #end: SwitchoverEnd | undefined;
  #cluster: ClusterReport | undefined;

  constructor(id: string, request: HeldSwitchoverRequest, options: OperationRecordOptions) {
    this.#id = id;
    this.#request = request;
    this.#options = options;
    this.changes = new ChangeWaiter(options.clock);
    this.phases = new Phases(options);
  }

  /** Never rejects. `release`: called at the end, before parked sessions are waited for. */
  async run(perform: () => Promise<SwitchoverEnd>, release: () => void): Promise<void> {
    const { control, known } = this.#options;
    this.#end = await perform().catch((error: unknown): SwitchoverEnd => ({
      outcome: 'failed',
      why: `unexpected error: ${String(error)}`,
    }));
    release();
    this.phases.enter('release');
    const counted = this.#countLeft();
    const parkedMs = (known().policy.moves?.parkTimeoutMs ?? 0) + MOVE_SLACK_MS;
    await this.changes.when(parkedMs, () => this.#isAbandoned || (this.#tally?.parkedNow() ?? 0) === 0 || undefined);
    const read = Promise.all([control.report(), counted]).then(([report]) => report);
    const report = await this.changes.settled(read, REPORT_MS, () => this.#isAbandoned);
    if (report?.kind === 'read') this.#cluster = report.value;
    this.phases.end();
  }

  /** Sessions that had no time to become idle, or to be asked, end after the drain. */
  async #countLeft(): Promise<void> {
    if (this.from === undefined || this.#tally === undefined) return;
    this.#tally.left((await this.#options.sessions(this.from)).onMember);
  }

  /** The outcome is known. */
  isDecided(): boolean {
    return this.#end !== undefined;
  }

  /** The program ends: nothing is waited for any more. */
  abandon(): void {
    this.#isAbandoned = true;
    this.changes.tell();
  }

  isAbandoned(): boolean {
    return this.#isAbandoned;
  }

  /** The sessions of the member count from now on. `pools`: those that it serves. */
  counts(member: MemberName, pools: Iterable<PoolName>): SessionTally {
    this.#tally = new SessionTally(member, pools);
    return this.#tally;
  }

  /** Undefined: no session is touched yet. */
  tally(): SessionTally | undefined {
    return this.#tally;
  }

  take(event: ReportedEvent): void {
    if (this.#tally === undefined) return;
    const before = this.#tally.parkedNow();
    this.#tally.take(event);
    if (before > 0 && this.#tally.parkedNow() === 0) this.changes.tell();
  }

  document(fleet: boolean, spans: Durations): OperationDocument {
    const hasEnded = this.phases.hasEnded();
    const end = hasEnded ? this.#end : undefined;
    return {
      id: this.#id,
      kind: 'switchover',
      state: hasEnded ? 'ended' : 'running',
      outcome: end?.outcome ?? null,
      why: end?.why ?? null,
      ...this.phases.document(),
      from: this.from ?? null,
      to: this.#request.to ?? null,
      transaction_timeout_ms: this.#request.transactionMs,
      fleet,
      sessions: this.#tally?.document() ?? new SessionTally('', []).document(),
      ...spans,
      primary: openPrimary(this.#options.known()) ?? null,
      cluster: this.#cluster ?? null,
    };
  }
}
