// A switchover on a cluster that the test plays: three members whose answers the core judges, sessions that are only
// numbers, and a control whose replies the test gives. Time is driven by hand.
import { LongOperations } from '../../../src/cluster/long-operations.ts';
import type { ClusterOperation, ControlReading } from '../../../src/cluster/control.ts';
import type { ClusterReport, OperationResult } from '../../../src/documents/cluster-documents.ts';
import type { OperationDocument } from '../../../src/documents/switchover-document.ts';
import { decideRoutes } from '../../../src/core/decide-routes.ts';
import { observe } from '../../../src/core/observe.ts';
import type { RoutingTable } from '../../../src/core/routing-table.ts';
import type { Handover, Snapshot } from '../../../src/core/snapshot.ts';
import type { Observation } from '../../../src/model/observation.ts';
import type { HoldPolicy, RoutingPolicy } from '../../../src/model/policy.ts';
import type { ProxyEvent } from '../../../src/reports/events.ts';
import type { OperationEvent } from '../../../src/reports/operation-events.ts';
import type { PreflightEvent } from '../../../src/reports/move-events.ts';
import type { Preflight } from '../../../src/reports/preflight.ts';
import { aLeader, aMember, aReport as reportOf } from '../fakes/fake-cluster.ts';
import { aList, aPolicy, aSnapshot, answered, isPrimary, isReplica } from '../values/builders.ts';
import { configOf, load } from '../values/loading.ts';
import { ManualClock } from '../waiting/manual-clock.ts';

const POLICY = aPolicy({ beforeSwitchoverMs: 1000 });
const MOVES = configOf(load('moves: { roles: [app] }')).moves;
const MEMBERS = ['pg-1', 'pg-2', 'pg-3'];
const PROBE_MS = 100;

export const STREAMING = { state: 'streaming', timeline: 1, lag_bytes: 0 } as const;

export function aReport(changes: Partial<ClusterReport> = {}): ClusterReport {
  const own = { api: null, postgres: null, timeline: 1 };
  return reportOf([aLeader('pg-1', own), aMember('pg-2', own), aMember('pg-3', own)], changes);
}

/** A reply that the test gives when it wants to. */
export interface Reply<T> {
  readonly give: (value: T) => void;
  readonly fail: (error: Error) => void;
}

interface LabOptions {
  readonly policy?: RoutingPolicy;
  readonly moves?: typeof MOVES | 'off';
}

export class SwitchoverLab {
  readonly clock = new ManualClock();
  readonly events: (OperationEvent | PreflightEvent)[] = [];
  readonly handovers: (Handover | undefined)[] = [];
  readonly asked: ClusterOperation[] = [];
  readonly operations: LongOperations;
  hold: HoldPolicy = { clientTimeoutMs: 30_000, maxSessions: 100, outageTimeoutMs: 60_000, maxConnectsPerSecond: 200 };
  report: () => Promise<ControlReading<ClusterReport>> = () => Promise.resolve({ kind: 'read', value: aReport() });
  config: Readonly<Record<string, unknown>> = {};
  /** How often the list of members was asked for. */
  hints = 0;
  /** The setting of the file. */
  isFleet = false;
  /** On the primary. */
  sessions = 0;
  connecting = 0;
  /** How often the sessions were counted, and what happens meanwhile. */
  counts = 0;
  onCount: () => unknown = () => undefined;
  preflight: Preflight | Promise<Preflight> | undefined;
  /** The members whose sessions were asked. */
  readonly preflights: string[] = [];
  verifierFaults: readonly string[] = [];
  primary: string | undefined = 'pg-1';
  timeline = 1;
  /** Members that answer nothing. */
  readonly silent = new Set<string>();
  /** An operation runs: one of this lab, or another one by the word of the test. */
  isBusy = false;
  /** The answer to the request that takes a schedule back. */
  takenBack: OperationResult | Promise<OperationResult> = {
    kind: 'done',
    text: 'Done.',
    reason: 'scheduled switchover deleted',
  };
  #started = 0;
  #snapshot: Snapshot;
  /** Stays the same until it expires. */
  #decided: { readonly snapshot: Snapshot; readonly table: RoutingTable } | undefined;
  readonly #policy: RoutingPolicy;
  readonly #answer = Promise.withResolvers<OperationResult>();

  constructor({ policy = POLICY, moves = MOVES }: LabOptions = {}) {
    this.#policy = policy;
    this.#snapshot = aSnapshot(policy, aList(0, ...MEMBERS));
    this.operations = new LongOperations({
      site: {
        clock: this.clock,
        wallClock: () => Date.UTC(2026, 0, 1),
        control: {
          report: () => this.report(),
          config: () => Promise.resolve({ kind: 'read', value: this.config }),
          perform: (operation) => {
            this.asked.push(operation);
            return operation.kind === 'cancel_switchover' ? Promise.resolve(this.takenBack) : this.#answer.promise;
          },
        },
        known: () => ({
          policy: {
            ...policy,
            hold: { ...policy.hold, ...this.hold },
            ...(moves !== 'off' && { moves }),
            fleet: this.isFleet,
          },
          table: this.table(),
          snapshot: this.#snapshot,
        }),
        hint: () => {
          this.hints += 1;
        },
        handOver: (handover) => {
          this.handovers.push(handover);
          this.#snapshot = { ...this.#snapshot, handover };
          this.operations.tableChanged();
        },
        sessions: async () => {
          this.counts += 1;
          await this.onCount();
          return { onMember: this.sessions, connecting: this.connecting };
        },
      },
      unreadable: () => Promise.resolve(2),
      preflight: (member) => {
        this.preflights.push(member);
        return Promise.resolve(this.preflight);
      },
      verifierFaults: () => Promise.resolve(this.verifierFaults),
      random: () => 0.5 + (this.#started += 1) / 1_000,
      onEvent: (event) => this.events.push(event),
      enter: () => {
        if (this.isBusy) return undefined;
        this.isBusy = true;
        return () => (this.isBusy = false);
      },
    });
    this.#probe();
  }

  /** The answer to the request to switch. */
  readonly answer: Reply<OperationResult> = {
    give: (value) => this.#answer.resolve(value),
    fail: (error) => this.#answer.reject(error),
  };

  table(): RoutingTable {
    const now = this.clock.now();
    const { snapshot, table } = this.#decided ?? {};
    if (table !== undefined && snapshot === this.#snapshot && now < table.validUntil) return table;
    const decided = decideRoutes(this.#policy, this.#snapshot, now);
    this.#decided = { snapshot: this.#snapshot, table: decided };
    return decided;
  }

  take(observation: Observation): void {
    this.#snapshot = observe(this.#policy, this.#snapshot, observation);
    this.operations.tableChanged();
  }

  tell(event: ProxyEvent): void {
    this.operations.take(event);
  }

  /** Begins, and returns the id. */
  start(request: { readonly to?: string; readonly transactionMs?: number; readonly fleet?: boolean } = {}): string {
    const { to, transactionMs = 3000, fleet } = request;
    const starting = this.operations.start({ to, transactionMs, fleet });
    if (starting.kind !== 'started') throw new Error('another operation runs');
    return starting.operation.id;
  }

  document(): OperationDocument {
    const [newest] = this.operations.list();
    if (newest === undefined) throw new Error('nothing was started');
    return newest;
  }

  phases(): readonly string[] {
    return this.document().phases.map(({ phase }) => phase);
  }

  /** Advances until the phase begins. */
  async reach(phase: string): Promise<void> {
    for (let step = 0; step < 1000 && this.document().phase !== phase; step += 1) await this.clock.advance(10);
    if (this.document().phase !== phase) throw new Error(`phase ${phase} was not reached: ${this.phases().join(' ')}`);
  }

  /** Advances until the operation has ended. */
  async end(): Promise<OperationDocument> {
    for (let step = 0; step < 1000 && this.document().state !== 'ended'; step += 1) await this.clock.advance(100);
    return this.document();
  }

  /** The newest list of members has a scheduled switchover, or none. */
  listSchedule(at: number | undefined): void {
    const switchover = at === undefined ? 'none' : { leader: 'pg-1', at };
    this.take({ ...aList(this.clock.now(), ...MEMBERS), switchover });
  }

  /** The clients of the primary wait because of the operation. */
  isHolding(): boolean {
    return this.#snapshot.handover !== undefined;
  }

  /** The old primary steps down. */
  stepDown(): void {
    this.primary = undefined;
  }

  promote(name: string): void {
    this.primary = name;
    this.timeline += 1;
  }

  #probe(): void {
    for (const name of MEMBERS) {
      if (this.silent.has(name)) continue;
      const now = this.clock.now();
      const body = { timeline: this.timeline };
      this.take(
        name === this.primary
          ? isPrimary(name, now, body)
          : answered({ member: name, at: now, status: 503, body: { ...body, role: 'replica', state: 'running' } }),
      );
      this.take(isReplica(name, now, { ...body, role: name === this.primary ? 'primary' : 'replica' }));
    }
    this.clock.schedule(PROBE_MS, () => this.#probe());
  }
}
