// Several processes that serve the same ports, to be used like one proxy: the main process watches the cluster, the workers forward. Each
// is told the snapshot when it changes and decides by itself; what they do, have and ask comes together here. A worker that dies
// takes its own sessions with it, and is replaced. Decides nothing about members, and sees no client.
import type { PoolCounts, WorkerStatus } from '../reports/counts.ts';
import type { ProxyEvent, Smell, WorkerEvent } from '../reports/events.ts';
import type { Clock, Instant } from '../model/instant.ts';
import type { KeyPairFiles, KeyPairReading } from '../model/key-pair.ts';
import type { PoolName } from '../model/policy.ts';
import type { Snapshot } from '../core/snapshot.ts';
import type { ListenResult, PreparedPolicy, Proxy } from '../proxy/proxy.ts';
import type { CertificateStatus } from '../proxy/startup/tls-certificate.ts';
import { Answers } from './worker-requests.ts';
import { Books } from './books.ts';
import { BUILD } from './fork.ts';
import type { StartProcess } from './fork.ts';
import { Handle } from './worker-process.ts';
import type { Said } from './worker-process.ts';
import type { Order, Report, WorkerPolicy } from './messages.ts';
import { Ports } from './ports.ts';
import { BEAT_MS, REPORT_MS } from './reporter.ts';
import { shareOf } from './divide-rates.ts';
import { Slot } from './worker-slot.ts';
import { deltaBetween } from './snapshot-delta.ts';
import { within } from './with-timeout.ts';

export interface CrewOptions {
  /** At first; see prepare(). */
  readonly policy: WorkerPolicy;
  readonly size: number;
  readonly startProcess: StartProcess;
  /** The current one. */
  readonly snapshot: () => Snapshot;
  /** Undefined: it is fresh. */
  readonly freshen: (pool: PoolName, since?: Instant) => Promise<void> | undefined;
  readonly onTrigger: (smell: Smell) => void;
  readonly onEvent: (event: ProxyEvent | WorkerEvent) => void;
  /** Never rejects. */
  readonly readKeyPair: (files: KeyPairFiles) => Promise<KeyPairReading>;
  readonly clock: Clock;
  /** Why there can be no workers here. */
  readonly problem: string | undefined;
}

/** Workers' session ids have their number before these digits. */
const IDS_PER_WORKER = 1e11;
/** A worker that is asked for its counts answers within this, or they are what it told last. Milliseconds. */
const TELL_MS = 500;
/** From the word that it is over to the kill; and what a drain may take beyond its deadline. Milliseconds. */
const CLOSE_MS = 2_000;

export function createCrew(options: CrewOptions): Proxy {
  return new Crew(options);
}

class Crew implements Proxy {
  readonly #options: CrewOptions;
  readonly #slots: readonly Slot<Handle>[];
  readonly #ports: Ports;
  readonly #answers: Answers;
  readonly #books = new Books();
  #policy: WorkerPolicy;
  /** What the workers know. */
  #sent: Snapshot;
  #isSnapshotDue = false;
  #isTallyDue = false;
  /** While a policy is prepared nobody is started: it would be neither the old one's nor the new one's. */
  #isPreparing = false;
  #isStopping = false;
  #lastId = 0;
  #closing: Promise<void> | undefined;
  #cancelBeat: () => void = () => {};

  constructor(options: CrewOptions) {
    const { clock, size, policy, snapshot } = options;
    this.#options = options;
    this.#policy = policy;
    this.#sent = snapshot();
    this.#ports = new Ports(clock);
    this.#answers = new Answers({
      ...options,
      sendSnapshot: () => this.#sendSnapshot(),
      workers: () => this.#begun(),
    });
    const launch = (slot: Slot<Handle>): Handle => this.#launch(slot);
    this.#slots = Array.from({ length: size }, (_, index) => new Slot({ number: index + 1, clock, launch }));
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
      : { kind: 'failed', message: `a worker could not begin: ${problem}` };
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
    const share = shareOf({ ...policy, listeners: claimed.listeners }, this.#options.size);
    const problems = await Promise.all(workers.map((worker) => worker.prepare(share)));
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

  /** Workers plan for themselves what the new snapshot means for their sessions. */
  tableChanged(): void {
    if (this.#isSnapshotDue) return;
    this.#isSnapshotDue = true;
    queueMicrotask(() => this.#sendSnapshot());
  }

  /** The clients are the workers', who notice for themselves. */
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
    await this.#order(this.#begun(), { what: 'tell' }, TELL_MS);
  }

  counts(): ReadonlyMap<PoolName, PoolCounts> {
    return this.#books.counts();
  }

  certificate(): CertificateStatus | undefined {
    return this.#workers()
      .map(({ report }) => report?.certificate)
      .find((certificate) => certificate !== undefined);
  }

  trouble(): string | undefined {
    if (this.#begun().length === 0) return 'no worker runs';
    return this.#slots.map((slot) => slot.trouble()).find((trouble) => trouble !== undefined);
  }

  workers(): readonly WorkerStatus[] {
    return this.#slots.map(({ number, worker, restarts }) => ({
      number,
      pid: worker?.pid,
      isReady: worker?.hasBegun ?? false,
      startedAt: worker?.startedAt,
      restarts,
      sessions: worker === undefined ? 0 : this.#books.sessionsOf(worker.id),
      cpuSeconds: worker?.report?.usage.cpuSeconds ?? 0,
      residentBytes: worker?.report?.usage.residentBytes ?? 0,
    }));
  }

  #launch(slot: Slot<Handle>): Handle {
    const { clock, size, startProcess } = this.#options;
    this.#sendSnapshot();
    this.#lastId += 1;
    const id = this.#lastId;
    const worker = new Handle({
      id,
      now: clock.now(),
      begin: {
        kind: 'begin',
        build: BUILD,
        processes: size,
        lastId: id * IDS_PER_WORKER,
        policy: shareOf({ ...this.#policy, listeners: this.#ports.bound() }, size),
        snapshot: this.#sent,
        others: this.#books.besides(id),
      },
      start: startProcess,
      onMessage: (from, message) => this.#take(slot, from, message),
      onEnd: (from, why) => this.#lost(slot, from, why),
    });
    void this.#tellBegun(slot, worker);
    return worker;
  }

  async #tellBegun({ number }: Slot<Handle>, worker: Handle): Promise<void> {
    const problem = await worker.begun;
    if (problem !== undefined) worker.kill(problem);
    else if (worker.pid !== undefined)
      this.#options.onEvent({ kind: 'worker_started', worker: number, pid: worker.pid });
  }

  #lost(slot: Slot<Handle>, worker: Handle, why: string): void {
    const { clock, onEvent } = this.#options;
    const { number } = slot;
    const pauseMs = slot.lost(worker, why);
    const ended = this.#books.close(worker.id, `worker ${number} (pid ${worker.pid ?? 'none'}): ${why}`, clock.now());
    this.#tallyChanged();
    for (const event of ended) onEvent(event);
    const replacedInMs = this.#isStopping ? undefined : pauseMs;
    if (replacedInMs !== undefined) slot.restartIn(replacedInMs, () => !this.#isStopping && !this.#isPreparing);
    const isExpected = this.#closing !== undefined && ended.length === 0;
    if (!isExpected) {
      onEvent({ kind: 'worker_ended', worker: number, pid: worker.pid, why, sessions: ended.length, replacedInMs });
    }
  }

  #take(slot: Slot<Handle>, worker: Handle, message: Said): void {
    switch (message.kind) {
      case 'report':
        return this.#takeReport(slot, worker, message.report);
      case 'smell':
        return this.#options.onTrigger(message.smell);
      case 'freshen':
      case 'read_key_pair':
      case 'pass_cancel':
        return void this.#answers.answer(worker, message);
    }
  }

  #takeReport(slot: Slot<Handle>, worker: Handle, report: Report): void {
    this.#books.enter(worker.id, report, this.#options.clock.now());
    this.#tallyChanged();
    // All have the same certificate: one of them tells.
    const isFirst = slot === this.#slots.find((one) => one.worker !== undefined);
    for (const event of report.events) {
      if (isFirst || !event.kind.startsWith('certificate_')) this.#options.onEvent(event);
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

  #tallyChanged(): void {
    if (this.#isTallyDue) return;
    this.#isTallyDue = true;
    this.#options.clock.schedule(REPORT_MS, () => {
      this.#isTallyDue = false;
      const workers = this.#workers();
      const news = this.#books.news(workers.map(({ id }) => id));
      for (const worker of workers) {
        const tally = news.get(worker.id);
        if (tally !== undefined) worker.send({ kind: 'others', tally });
      }
    });
  }

  /** Each has done it or is gone, or the time is over. */
  async #order(workers: readonly Handle[], order: Order, limitMs: number): Promise<void> {
    await within(this.#options.clock, limitMs, Promise.all(workers.map((worker) => worker.do(order))));
  }

  #workers(): readonly Handle[] {
    return this.#slots.map(({ worker }) => worker).filter((worker) => worker !== undefined);
  }

  /** Those that accept clients. */
  #begun(): readonly Handle[] {
    return this.#workers().filter(({ hasBegun }) => hasBegun);
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
    await within(this.#options.clock, CLOSE_MS, ended);
    for (const worker of this.#workers()) worker.kill('did not end in time');
    await ended;
    this.#cancelBeat();
  }
}
