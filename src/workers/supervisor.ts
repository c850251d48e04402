// Runs several worker processes on the same ports and presents them as one proxy. The main process monitors the cluster
// and sends each new snapshot to the workers; each worker decides by itself. A worker that dies loses its own sessions
// and is replaced. Never decides about members, never touches a client.
import type { ProxyDependencies } from '../proxy/options.ts';
import type { CertificateStatus, ClientCounts, PoolCounts, WorkerStatus } from '../reports/counts.ts';
import type { ProxyEvent, WorkerEvent } from '../reports/events.ts';
import type { Instant } from '../model/instant.ts';
import type { MemberName } from '../model/member.ts';
import type { PoolName } from '../model/policy.ts';
import type { Preflight } from '../reports/preflight.ts';
import type { Snapshot } from '../core/snapshot.ts';
import type { KillResult, SessionList, SessionQuery } from '../reports/session-list.ts';
import type { ListenResult, PreparedPolicy, Proxy } from '../proxy/proxy-interface.ts';
import { WorkerRequests } from './worker-requests.ts';
import { WorkerStats } from './stats.ts';
import { BUILD, type StartProcess } from './fork.ts';
import type { WorkerProcess, WorkerNotice } from './worker-process.ts';
import type { WorkerOrder, WorkerReport, ToWorker, WorkerPolicy } from './messages.ts';
import { Ports } from './ports.ts';
import { REPORT_MS } from './reporter.ts';
import { divideRates } from './divide-rates.ts';
import { CLOSE_MS, WorkerSlots } from './worker-slots.ts';
import { deltaBetween } from './snapshot-delta.ts';
import type { MoveResult } from '../reports/session-move.ts';
import { IDS_PER_WORKER, killSession, listSessions, moveSession, preflight } from './worker-sessions.ts';
import { withTimeout } from '../model/with-timeout.ts';

export interface SupervisorOptions extends Pick<
  ProxyDependencies,
  'freshen' | 'onTrigger' | 'readKeyPair' | 'readPem' | 'locateBranch' | 'clock' | 'createServer' | 'random'
> {
  /** The first policy; prepare() changes it. */
  readonly policy: WorkerPolicy;
  readonly size: number;
  readonly startProcess: StartProcess;
  /** The current snapshot. */
  readonly snapshot: () => Snapshot;
  /** `at`: when it happened, if a worker reported it. */
  readonly onEvent: (event: ProxyEvent | WorkerEvent, at?: Instant) => void;
  /** Why this machine cannot run workers; undefined when it can. */
  readonly problem: string | undefined;
}

/** A worker has this long to report its counts; after that its last report counts. Milliseconds. */
const REPORT_LIMIT_MS = 500;

export class Supervisor implements Proxy {
  readonly #options: SupervisorOptions;
  readonly #slots: WorkerSlots;
  readonly #ports: Ports;
  readonly #requests: WorkerRequests;
  readonly #stats = new WorkerStats();
  #policy: WorkerPolicy;
  /** The snapshot that the workers have. */
  #sent: Snapshot;
  #isSnapshotDue = false;
  #areLimitsDue = false;

  constructor(options: SupervisorOptions) {
    const { policy, snapshot } = options;
    this.#options = options;
    this.#policy = policy;
    this.#sent = snapshot();
    this.#ports = new Ports(options);
    this.#requests = new WorkerRequests({
      ...options,
      sendSnapshot: () => this.#sendSnapshot(),
      workers: () => this.#slots.begun(),
    });
    this.#slots = new WorkerSlots({
      ...options,
      begin: (id) => this.#begin(id),
      onMessage: (worker, message) => this.#take(worker, message),
      onLost: (worker, detail) => this.#lost(worker, detail),
    });
  }

  async listen(): Promise<ListenResult> {
    const { problem: why } = this.#options;
    if (why !== undefined) return { kind: 'failed', message: `workers: ${why}: set workers: 1` };
    const claimed = await this.#ports.claim(this.#policy.listeners);
    if (claimed.kind === 'failed') return claimed;
    const { added } = claimed.apply();
    const serving = Promise.resolve();
    if (this.#slots.isStopped) return { kind: 'listening', listeners: [], serving };
    const problem = await this.#slots.start();
    return problem === undefined
      ? { kind: 'listening', listeners: added, serving }
      : { kind: 'failed', message: `a worker could not start: ${problem}` };
  }

  async prepare(policy: WorkerPolicy): Promise<PreparedPolicy> {
    // A worker that started meanwhile would have neither the old policy nor the new one.
    this.#slots.pause();
    const claimed = await this.#ports.claim(policy.listeners);
    if (claimed.kind === 'failed') {
      this.#slots.resume();
      return claimed;
    }
    await Promise.all(this.#slots.workers().map(({ begun }) => begun));
    const workers = this.#slots.workers();
    const divided = divideRates({ ...policy, listeners: claimed.listeners }, this.#options.size);
    const problems = await Promise.all(workers.map((worker) => worker.prepare(divided)));
    const problem = problems.find((one) => one !== undefined);
    const abandon = (): void => {
      for (const worker of workers) worker.send({ kind: 'abandon' });
      this.#slots.resume();
    };
    if (problem !== undefined) {
      abandon();
      return { kind: 'failed', message: problem };
    }
    const apply = () => {
      this.#policy = policy;
      for (const worker of workers) worker.send({ kind: 'apply' });
      const changes = claimed.apply();
      this.#slots.resume();
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
    this.#slots.stop();
    await this.#order(this.#slots.workers(), { what: 'stop_accepting' }, CLOSE_MS);
  }

  async whenEmpty(limitMs: number): Promise<void> {
    await this.#order(this.#slots.workers(), { what: 'become_empty', limitMs }, limitMs + CLOSE_MS);
  }

  async drain(limitMs: number): Promise<void> {
    this.#slots.stop();
    await this.#order(this.#slots.workers(), { what: 'drain', limitMs }, limitMs + CLOSE_MS);
  }

  close(): Promise<void> {
    return this.#slots.close();
  }

  async gather(): Promise<void> {
    await this.#order(this.#slots.begun(), { what: 'report' }, REPORT_LIMIT_MS);
  }

  sessions(query: SessionQuery): Promise<SessionList> {
    return listSessions(this.#slots.numbered(), query, this.#options.clock);
  }

  kill(session: number): Promise<KillResult> {
    return killSession(this.#slots.numbered(), session, this.#options.clock);
  }

  move(session: number, mayAbort = false): Promise<MoveResult> {
    return moveSession(this.#slots.numbered(), { session, mayAbort }, this.#options.clock, this.#policy.moves);
  }

  preflight(member: MemberName): Promise<Preflight | undefined> {
    if (this.#policy.moves === undefined) return Promise.resolve(undefined);
    return preflight(this.#slots.numbered(), member, this.#options.clock);
  }

  clients(): ClientCounts {
    return this.#stats.clients();
  }

  counts(): ReadonlyMap<PoolName, PoolCounts> {
    return this.#stats.counts();
  }

  certificate(): CertificateStatus | undefined {
    return this.#slots.workers().find(({ report }) => report?.certificate !== undefined)?.report?.certificate;
  }

  trouble(): string | undefined {
    return this.#slots.trouble();
  }

  workers(): readonly WorkerStatus[] {
    return this.#slots.all.map(({ number, worker, restarts }) => ({
      number,
      pid: worker?.pid,
      isReady: worker?.hasBegun ?? false,
      startedAt: worker?.startedAt,
      restarts,
      sessions: worker === undefined ? 0 : this.#stats.sessionsOf(worker.id),
      cpuSeconds: worker?.report?.usage.cpuSeconds ?? 0,
      residentBytes: worker?.report?.usage.residentBytes ?? 0,
    }));
  }

  #begin(id: number): Extract<ToWorker, { kind: 'begin' }> {
    const { size } = this.#options;
    this.#sendSnapshot();
    return {
      kind: 'begin',
      build: BUILD,
      processes: size,
      lastId: id * IDS_PER_WORKER,
      policy: divideRates({ ...this.#policy, listeners: this.#ports.bound() }, size),
      snapshot: this.#sent,
      others: this.#stats.totalExcept(id),
    };
  }

  #lost(worker: WorkerProcess, detail: string): number {
    const ended = this.#stats.remove(worker.id, detail, this.#options.clock.now());
    this.#limitsChanged();
    for (const event of ended) this.#options.onEvent(event);
    return ended.filter(({ kind }) => kind === 'session_closed').length;
  }

  #take(worker: WorkerProcess, message: WorkerNotice): void {
    switch (message.kind) {
      case 'report':
        return this.#takeReport(worker, message.report);
      case 'trigger':
        return this.#options.onTrigger(message.trigger);
      case 'call':
        return void this.#requests.answer(worker, message);
    }
  }

  #takeReport(worker: WorkerProcess, report: WorkerReport): void {
    this.#stats.update(worker.id, report, this.#options.clock.now());
    this.#limitsChanged();
    // All workers have the same certificate, so only one of them reports it.
    const isFirst = worker === this.#slots.workers()[0];
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
    for (const worker of this.#slots.workers()) worker.send({ kind: 'snapshot', delta });
  }

  #limitsChanged(): void {
    if (this.#areLimitsDue) return;
    this.#areLimitsDue = true;
    this.#options.clock.schedule(REPORT_MS, () => {
      this.#areLimitsDue = false;
      const workers = this.#slots.workers();
      const changes = this.#stats.changesExcept(workers.map(({ id }) => id));
      for (const worker of workers) {
        const tally = changes.get(worker.id);
        if (tally !== undefined) worker.send({ kind: 'others', tally });
      }
    });
  }

  /** Settles when each worker has carried it out or has ended, or after `limitMs`. */
  async #order(workers: readonly WorkerProcess[], order: WorkerOrder, limitMs: number): Promise<void> {
    await withTimeout(
      this.#options.clock,
      limitMs,
      Promise.all(workers.map((worker) => worker.call('do', order, undefined))),
    );
  }
}
