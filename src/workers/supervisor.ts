// Runs several worker processes on the same ports and presents them as one proxy. The main process monitors the cluster
// and sends each new snapshot to the workers; each worker decides by itself. A worker that dies loses its own sessions
// and is replaced. Never decides about members, never touches a client.
import type { ReadAuthorities } from '../model/authority.ts';
import type { LocateBranch } from '../model/branch.ts';
import type { ClientCounts, PoolCounts, WorkerStatus } from '../reports/counts.ts';
import type { ProxyEvent, Trigger, WorkerEvent } from '../reports/events.ts';
import type { Clock, Instant } from '../model/instant.ts';
import type { KeyPairFiles, KeyPairReading } from '../model/key-pair.ts';
import type { MemberName } from '../model/member.ts';
import type { PoolName } from '../model/policy.ts';
import type { Preflight } from '../reports/preflight.ts';
import type { Snapshot } from '../core/snapshot.ts';
import type { KillResult, SessionList, SessionQuery } from '../reports/session-list.ts';
import type { ListenResult, PreparedPolicy, Proxy } from '../proxy/proxy-interface.ts';
import type { CertificateStatus } from '../proxy/startup/tls-certificate.ts';
import { WorkerRequests } from './worker-requests.ts';
import { WorkerStats } from './stats.ts';
import { BUILD } from './fork.ts';
import type { StartProcess } from './fork.ts';
import { WorkerProcess } from './worker-process.ts';
import type { WorkerNotice } from './worker-process.ts';
import type { Order, Report, WorkerPolicy } from './messages.ts';
import { Ports } from './ports.ts';
import { BEAT_MS, REPORT_MS } from './reporter.ts';
import { divideRates } from './divide-rates.ts';
import { WorkerSlot } from './worker-slot.ts';
import { deltaBetween } from './snapshot-delta.ts';
import { workerStatus } from './worker-status.ts';
import type { MoveResult } from '../reports/session-move.ts';
import { IDS_PER_WORKER, killSession, listSessions, moveSession, preflight } from './worker-sessions.ts';
import type { NumberedWorker } from './worker-sessions.ts';
import { withTimeout } from './with-timeout.ts';

export interface SupervisorOptions {
  /** The first policy; prepare() changes it. */
  readonly policy: WorkerPolicy;
  readonly size: number;
  readonly startProcess: StartProcess;
  /** The current snapshot. */
  readonly snapshot: () => Snapshot;
  /** Undefined: the evidence is fresh. */
  readonly freshen: (pool: PoolName, since?: Instant) => Promise<void> | undefined;
  readonly onTrigger: (trigger: Trigger) => void;
  /** `at`: when it happened, if a worker reported it. */
  readonly onEvent: (event: ProxyEvent | WorkerEvent, at?: Instant) => void;
  /** Never rejects. */
  readonly readKeyPair: (files: KeyPairFiles) => Promise<KeyPairReading>;
  readonly readAuthorities: ReadAuthorities;
  /** Absent: there are no branches. */
  readonly locateBranch?: LocateBranch;
  readonly clock: Clock;
  /** Why this machine cannot run workers; undefined when it can. */
  readonly problem: string | undefined;
}

/** A worker has this long to report its counts; after that its last report counts. Milliseconds. */
const REPORT_LIMIT_MS = 500;
/** From the order to close to the kill, and what a drain may take beyond its deadline. Milliseconds. */
const CLOSE_MS = 2_000;

export function createSupervisor(options: SupervisorOptions): Proxy {
  return new Supervisor(options);
}

class Supervisor implements Proxy {
  readonly #options: SupervisorOptions;
  readonly #slots: readonly WorkerSlot<WorkerProcess>[];
  readonly #ports: Ports;
  readonly #requests: WorkerRequests;
  readonly #stats = new WorkerStats();
  #policy: WorkerPolicy;
  /** The snapshot that the workers have. */
  #sent: Snapshot;
  #isSnapshotDue = false;
  #areLimitsDue = false;
  /** No worker starts while a policy is prepared: it would have neither the old policy nor the new one. */
  #isPreparing = false;
  #isStopping = false;
  #lastId = 0;
  #closing: Promise<void> | undefined;
  #cancelBeat: () => void = () => {};

  constructor(options: SupervisorOptions) {
    const { clock, size, policy, snapshot } = options;
    this.#options = options;
    this.#policy = policy;
    this.#sent = snapshot();
    this.#ports = new Ports(clock);
    this.#requests = new WorkerRequests({
      ...options,
      sendSnapshot: () => this.#sendSnapshot(),
      workers: () => this.#begun(),
    });
    const launch = (slot: WorkerSlot<WorkerProcess>): WorkerProcess => this.#launch(slot);
    this.#slots = Array.from({ length: size }, (_, index) => new WorkerSlot({ number: index + 1, clock, launch }));
  }

  async listen(): Promise<ListenResult> {
    const { problem: why } = this.#options;
    if (why !== undefined) return { kind: 'failed', message: `workers: ${why}: set workers: 1` };
    const claimed = await this.#ports.claim(this.#policy.listeners);
    if (claimed.kind === 'failed') return claimed;
    const { added } = claimed.apply();
    if (this.#isStopping) return { kind: 'listening', listeners: [] };
    this.#beat();
    const problems = await Promise.all(this.#slots.map((slot) => slot.start().begun));
    const problem = problems.find((one) => one !== undefined);
    return problem === undefined
      ? { kind: 'listening', listeners: added }
      : { kind: 'failed', message: `a worker could not start: ${problem}` };
  }

  async prepare(policy: WorkerPolicy): Promise<PreparedPolicy> {
    this.#isPreparing = true;
    const claimed = await this.#ports.claim(policy.listeners);
    if (claimed.kind === 'failed') {
      this.#prepared();
      return claimed;
    }
    await Promise.all(this.#workers().map(({ begun }) => begun));
    const workers = this.#workers();
    const divided = divideRates({ ...policy, listeners: claimed.listeners }, this.#options.size);
    const problems = await Promise.all(workers.map((worker) => worker.prepare(divided)));
    const problem = problems.find((one) => one !== undefined);
    const abandon = (): void => {
      for (const worker of workers) worker.send({ kind: 'abandon' });
      this.#prepared();
    };
    if (problem !== undefined) {
      abandon();
      return { kind: 'failed', message: problem };
    }
    const apply = () => {
      this.#policy = policy;
      for (const worker of workers) worker.send({ kind: 'apply' });
      const changes = claimed.apply();
      this.#prepared();
      return changes;
    };
    return { kind: 'prepared', apply, abandon };
  }

  /** Each worker decides what the new snapshot means for its sessions. */
  tableChanged(): void {
    if (this.#isSnapshotDue) return;
    this.#isSnapshotDue = true;
    queueMicrotask(() => this.#sendSnapshot());
  }

  /** The main process has no clients. Each worker notices its own stalls. */
  stalled(): void {}

  async stopAccepting(): Promise<void> {
    this.#stopReplacing();
    await this.#order(this.#workers(), { what: 'stop_accepting' }, CLOSE_MS);
  }

  async emptied(limitMs: number): Promise<void> {
    await this.#order(this.#workers(), { what: 'become_empty', limitMs }, limitMs + CLOSE_MS);
  }

  async drain(limitMs: number): Promise<void> {
    this.#stopReplacing();
    await this.#order(this.#workers(), { what: 'drain', limitMs }, limitMs + CLOSE_MS);
  }

  close(): Promise<void> {
    this.#stopReplacing();
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async gather(): Promise<void> {
    await this.#order(this.#begun(), { what: 'report' }, REPORT_LIMIT_MS);
  }

  sessions(query: SessionQuery): Promise<SessionList> {
    return listSessions(this.#numbered(), query, this.#options.clock);
  }

  kill(session: number): Promise<KillResult> {
    return killSession(this.#numbered(), session, this.#options.clock);
  }

  move(session: number): Promise<MoveResult> {
    return moveSession(this.#numbered(), session, this.#options.clock, this.#policy.moves);
  }

  preflight(member: MemberName): Promise<Preflight | undefined> {
    if (this.#policy.moves === undefined) return Promise.resolve(undefined);
    return preflight(this.#numbered(), member, this.#options.clock);
  }

  clients(): ClientCounts {
    return this.#stats.clients();
  }

  counts(): ReadonlyMap<PoolName, PoolCounts> {
    return this.#stats.counts();
  }

  certificate(): CertificateStatus | undefined {
    return this.#workers().find(({ report }) => report?.certificate !== undefined)?.report?.certificate;
  }

  trouble(): string | undefined {
    if (this.#begun().length === 0) return 'no worker is running';
    return this.#slots.map((slot) => slot.trouble()).find((trouble) => trouble !== undefined);
  }

  workers(): readonly WorkerStatus[] {
    return this.#slots.map((slot) => workerStatus(slot, this.#stats));
  }

  #launch(slot: WorkerSlot<WorkerProcess>): WorkerProcess {
    const { clock, size, startProcess } = this.#options;
    this.#sendSnapshot();
    this.#lastId += 1;
    const id = this.#lastId;
    const worker = new WorkerProcess({
      id,
      now: clock.now(),
      begin: {
        kind: 'begin',
        build: BUILD,
        processes: size,
        lastId: id * IDS_PER_WORKER,
        policy: divideRates({ ...this.#policy, listeners: this.#ports.bound() }, size),
        snapshot: this.#sent,
        others: this.#stats.totalExcept(id),
      },
      start: startProcess,
      onMessage: (from, message) => this.#take(slot, from, message),
      onEnd: (from, why) => this.#lost(slot, from, why),
    });
    void this.#reportBegun(slot, worker);
    return worker;
  }

  async #reportBegun({ number }: WorkerSlot<WorkerProcess>, worker: WorkerProcess): Promise<void> {
    const problem = await worker.begun;
    if (problem !== undefined) worker.kill(problem);
    else if (worker.pid !== undefined)
      this.#options.onEvent({ kind: 'worker_started', worker: number, pid: worker.pid });
  }

  #lost(slot: WorkerSlot<WorkerProcess>, worker: WorkerProcess, why: string): void {
    const { clock, onEvent } = this.#options;
    const { number } = slot;
    const pauseMs = slot.workerLost(worker, why);
    const ended = this.#stats.remove(worker.id, `worker ${number} (pid ${worker.pid ?? 'none'}): ${why}`, clock.now());
    this.#limitsChanged();
    for (const event of ended) onEvent(event);
    const replacedInMs = this.#isStopping ? undefined : pauseMs;
    if (replacedInMs !== undefined) slot.restartIn(replacedInMs, () => !this.#isStopping && !this.#isPreparing);
    const isExpected = this.#closing !== undefined && ended.length === 0;
    if (!isExpected) {
      onEvent({ kind: 'worker_ended', worker: number, pid: worker.pid, why, sessions: ended.length, replacedInMs });
    }
  }

  #take(slot: WorkerSlot<WorkerProcess>, worker: WorkerProcess, message: WorkerNotice): void {
    switch (message.kind) {
      case 'report':
        return this.#takeReport(slot, worker, message.report);
      case 'trigger':
        return this.#options.onTrigger(message.trigger);
      case 'freshen':
      case 'read_key_pair':
      case 'read_authorities':
      case 'pass_cancel':
      case 'locate_branch':
        return void this.#requests.answer(worker, message);
    }
  }

  #takeReport(slot: WorkerSlot<WorkerProcess>, worker: WorkerProcess, report: Report): void {
    this.#stats.update(worker.id, report, this.#options.clock.now());
    this.#limitsChanged();
    // All workers have the same certificate, so only one of them reports it.
    const isFirst = slot === this.#slots.find((one) => one.worker !== undefined);
    for (const { event, at } of report.events) {
      if (isFirst || !event.kind.startsWith('certificate_')) this.#options.onEvent(event, at);
    }
  }

  #sendSnapshot(): void {
    this.#isSnapshotDue = false;
    const next = this.#options.snapshot();
    if (next === this.#sent) return;
    const delta = deltaBetween(this.#sent, next);
    this.#sent = next;
    for (const worker of this.#workers()) worker.send({ kind: 'snapshot', delta });
  }

  #limitsChanged(): void {
    if (this.#areLimitsDue) return;
    this.#areLimitsDue = true;
    this.#options.clock.schedule(REPORT_MS, () => {
      this.#areLimitsDue = false;
      const workers = this.#workers();
      const changes = this.#stats.changesExcept(workers.map(({ id }) => id));
      for (const worker of workers) {
        const tally = changes.get(worker.id);
        if (tally !== undefined) worker.send({ kind: 'others', tally });
      }
    });
  }

  /** Settles when each worker has carried it out or has ended, or after `limitMs`. */
  async #order(workers: readonly WorkerProcess[], order: Order, limitMs: number): Promise<void> {
    await withTimeout(this.#options.clock, limitMs, Promise.all(workers.map((worker) => worker.do(order))));
  }

  #workers(): readonly WorkerProcess[] {
    return this.#slots.map(({ worker }) => worker).filter((worker) => worker !== undefined);
  }

  /** The workers that accept clients. */
  #begun(): readonly WorkerProcess[] {
    return this.#workers().filter(({ hasBegun }) => hasBegun);
  }

  /** The workers that accept clients, with the numbers of their slots. */
  #numbered(): readonly NumberedWorker[] {
    return this.#slots.flatMap(({ number, worker }) => (worker?.hasBegun === true ? [{ number, worker }] : []));
  }

  #prepared(): void {
    this.#isPreparing = false;
    for (const slot of this.#slots) {
      if (slot.worker === undefined && !this.#isStopping) slot.restartIn(0, () => !this.#isStopping);
    }
  }

  #stopReplacing(): void {
    this.#isStopping = true;
    for (const slot of this.#slots) slot.stop();
  }

  #beat(): void {
    this.#cancelBeat = this.#options.clock.schedule(BEAT_MS, () => {
      for (const worker of this.#workers()) worker.expectBeat();
      this.#beat();
    });
  }

  async #close(): Promise<void> {
    const workers = this.#workers();
    for (const worker of workers) worker.send({ kind: 'close' });
    const ended = Promise.all(workers.map((worker) => worker.ended));
    await withTimeout(this.#options.clock, CLOSE_MS, ended);
    for (const worker of this.#workers()) worker.kill('did not end in time');
    await ended;
    this.#cancelBeat();
  }
}
