// The processes of all workers, from the first start to the last end: one in each slot. Replaces one that died, and
// kills one that is stuck or does not end in time. Never knows what a worker does.
import type { WorkerEvent } from '../reports/events.ts';
import type { Clock } from '../model/instant.ts';
import type { StartProcess } from './fork.ts';
import type { ToWorker } from './messages.ts';
import { BEAT_MS } from './reporter.ts';
import { withTimeout } from '../model/with-timeout.ts';
import { WorkerProcess, type WorkerNotice } from './worker-process.ts';
import type { NumberedWorker } from './worker-sessions.ts';
import { WorkerSlot } from './worker-slot.ts';

type ProcessSlot = WorkerSlot<WorkerProcess>;

export interface WorkerSlotsOptions {
  readonly size: number;
  readonly clock: Clock;
  readonly startProcess: StartProcess;
  /** The first message to a new worker. */
  readonly begin: (id: number) => Extract<ToWorker, { kind: 'begin' }>;
  readonly onMessage: (worker: WorkerProcess, message: WorkerNotice) => void;
  /** The worker has ended. Returns how many sessions ended with it. */
  readonly onLost: (worker: WorkerProcess, detail: string) => number;
  readonly onEvent: (event: WorkerEvent) => void;
}

/** From the order to close to the kill. Milliseconds. */
export const CLOSE_MS = 2_000;

export class WorkerSlots {
  readonly all: readonly ProcessSlot[];
  readonly #options: WorkerSlotsOptions;
  #isPaused = false;
  #isStopped = false;
  #lastId = 0;
  #closing: Promise<void> | undefined;
  #cancelBeat: () => void = () => {};

  constructor(options: WorkerSlotsOptions) {
    const { clock, size } = options;
    this.#options = options;
    const launch = (slot: ProcessSlot): WorkerProcess => this.#launch(slot);
    this.all = Array.from({ length: size }, (_, index) => new WorkerSlot({ number: index + 1, clock, launch }));
  }

  /** No worker is started any more. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Starts all workers. Returns why one of them cannot start. */
  async start(): Promise<string | undefined> {
    this.#beat();
    const problems = await Promise.all(this.all.map((slot) => slot.start().begun));
    return problems.find((one) => one !== undefined);
  }

  /** Until resume() no worker is replaced. */
  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    for (const slot of this.all) {
      if (slot.worker === undefined && !this.#isStopped) slot.restartIn(0, () => !this.#isStopped);
    }
  }

  /** From now on no worker is replaced. */
  stop(): void {
    this.#isStopped = true;
    for (const slot of this.all) slot.stop();
  }

  /** Ends all workers. */
  close(): Promise<void> {
    this.stop();
    this.#closing ??= this.#close();
    return this.#closing;
  }

  workers(): readonly WorkerProcess[] {
    return this.all.map(({ worker }) => worker).filter((worker) => worker !== undefined);
  }

  /** The workers that accept clients. */
  begun(): readonly WorkerProcess[] {
    return this.workers().filter(({ hasBegun }) => hasBegun);
  }

  /** The workers that accept clients, with the numbers of their slots. */
  numbered(): readonly NumberedWorker[] {
    return this.all.flatMap(({ number, worker }) => (worker?.hasBegun === true ? [{ number, worker }] : []));
  }

  trouble(): string | undefined {
    if (this.begun().length === 0) return 'no worker is running';
    return this.all.map((slot) => slot.trouble()).find((trouble) => trouble !== undefined);
  }

  #launch(slot: ProcessSlot): WorkerProcess {
    const { begin, clock, onMessage, startProcess } = this.#options;
    this.#lastId += 1;
    const id = this.#lastId;
    const worker = new WorkerProcess({
      id,
      now: clock.now(),
      begin: begin(id),
      start: startProcess,
      onMessage,
      onEnd: (from, why) => this.#lost(slot, from, why),
    });
    void this.#reportBegun(slot, worker);
    return worker;
  }

  async #reportBegun({ number }: ProcessSlot, worker: WorkerProcess): Promise<void> {
    const problem = await worker.begun;
    if (problem !== undefined) worker.kill(problem);
    else if (worker.pid !== undefined)
      this.#options.onEvent({ kind: 'worker_started', worker: number, pid: worker.pid });
  }

  #lost(slot: ProcessSlot, worker: WorkerProcess, why: string): void {
    const { onEvent, onLost } = this.#options;
    const { number } = slot;
    const { pid } = worker;
    const pauseMs = slot.workerLost(worker, why);
    const sessions = onLost(worker, `worker ${number} (pid ${pid ?? 'none'}): ${why}`);
    const replacedInMs = this.#isStopped ? undefined : pauseMs;
    if (replacedInMs !== undefined) slot.restartIn(replacedInMs, () => !this.#isStopped && !this.#isPaused);
    const isExpected = this.#closing !== undefined && sessions === 0;
    if (!isExpected) onEvent({ kind: 'worker_ended', worker: number, pid, why, sessions, replacedInMs });
  }

  #beat(): void {
    this.#cancelBeat = this.#options.clock.schedule(BEAT_MS, () => {
      for (const worker of this.workers()) worker.expectBeat();
      this.#beat();
    });
  }

  async #close(): Promise<void> {
    const workers = this.workers();
    for (const worker of workers) worker.send({ kind: 'close' });
    const ended = Promise.all(workers.map((worker) => worker.ended));
    await withTimeout(this.#options.clock, CLOSE_MS, ended);
    for (const worker of this.workers()) worker.kill('did not end in time');
    await ended;
    this.#cancelBeat();
  }
}
