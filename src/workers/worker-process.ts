// The main process's end of one worker, from its start to its end: requests to it and its signs of life. When the
// worker ends, every pending request is settled.
import type { Instant } from '../model/instant.ts';
import type { MemberName } from '../model/member.ts';
import type { Channel, StartProcess } from './fork.ts';
import { Calls } from './calls.ts';
import type { CallsOfMain, FromWorker, WorkerReport, ToWorker, WorkerPolicy } from './messages.ts';

export interface WorkerProcessOptions {
  /** Unique over all workers that ever ran. */
  readonly id: number;
  readonly now: Instant;
  readonly begin: Extract<ToWorker, { kind: 'begin' }>;
  readonly start: StartProcess;
  /** Every message except the replies to this end's requests. */
  readonly onMessage: (worker: WorkerProcess, message: WorkerNotice) => void;
  /** Once. `why`: `killed by SIGKILL`. */
  readonly onEnd: (worker: WorkerProcess, why: string) => void;
}

/** The messages of a worker that concern others than its process. */
export type WorkerNotice = Extract<FromWorker, { kind: 'report' | 'trigger' | 'call' }>;

/**
 * A worker that misses this many reports (one is due each second) is stuck. A start may take longer on a busy machine.
 */
const MAX_MISSED = 10;
const MAX_MISSED_AT_START = 60;

export class WorkerProcess {
  readonly id: number;
  readonly startedAt: Instant;
  /** The last report; undefined before the first. */
  report: WorkerReport | undefined;
  /** The worker accepts clients. */
  hasBegun = false;
  /** Why the worker cannot start, undefined when it can. Settles at the latest when the worker ends. */
  readonly begun: Promise<string | undefined>;
  /** Settles when the process has ended. */
  readonly ended: Promise<undefined>;
  readonly #channel: Channel;
  readonly #calls = new Calls<CallsOfMain>((message) => this.send(message));
  readonly #begun = Promise.withResolvers<string | undefined>();
  readonly #ended = Promise.withResolvers<undefined>();
  #prepared = Promise.withResolvers<string | undefined>();
  #missed = 0;
  #killCause: string | undefined;

  constructor(options: WorkerProcessOptions) {
    this.id = options.id;
    this.startedAt = options.now;
    this.begun = this.#begun.promise;
    this.ended = this.#ended.promise;
    this.#channel = options.start({
      onMessage: (message) => this.#take(message, options),
      onEnd: (why) => this.#end(this.#killCause ?? why, options),
    });
    this.send(options.begin);
  }

  get pid(): number | undefined {
    return this.#channel.pid;
  }

  send(message: ToWorker): void {
    this.#channel.send(message);
  }

  /**
   * Why the worker cannot apply the policy; undefined when it can, or when it has ended: its successor starts with the
   * new policy.
   */
  prepare(policy: WorkerPolicy): Promise<string | undefined> {
    this.#prepared = Promise.withResolvers();
    this.send({ kind: 'prepare', policy });
    return Promise.race([this.#prepared.promise, this.ended]);
  }

  /** Settles with the reply, or with `atEnd` when the worker has ended. */
  call<What extends keyof CallsOfMain>(
    what: What,
    argument: CallsOfMain[What]['argument'],
    atEnd: CallsOfMain[What]['reply'],
  ): Promise<CallsOfMain[What]['reply']> {
    return this.#calls.call(what, argument, atEnd);
  }

  /** By the last report. */
  sessionsOn(member: MemberName): number {
    const pools = [...(this.report?.counts.values() ?? [])];
    return pools.reduce((sum, { members }) => sum + (members.get(member) ?? 0), 0);
  }

  /** `why`: the cause that `onEnd` reports. */
  kill(why: string): void {
    this.#killCause ??= why;
    this.#channel.kill();
  }

  /**
   * To be called once a second. Kills a stuck worker. Counts calls, not time: when this process or the whole machine
   * stood still, no worker has missed a report.
   */
  expectBeat(): void {
    this.#missed += 1;
    if (this.#missed > (this.hasBegun ? MAX_MISSED : MAX_MISSED_AT_START))
      this.kill(`stuck: no report for ${this.#missed} s`);
  }

  #take(message: FromWorker, { onMessage }: WorkerProcessOptions): void {
    this.#missed = 0;
    switch (message.kind) {
      case 'begun':
        this.hasBegun = message.problem === undefined;
        return this.#begun.resolve(message.problem);
      case 'prepared':
        return this.#prepared.resolve(message.problem);
      case 'reply':
        return this.#calls.take(message);
      case 'closed':
        return undefined;
      case 'report':
        this.report = message.report;
        return onMessage(this, message);
      case 'trigger':
      case 'call':
        return onMessage(this, message);
    }
  }

  #end(why: string, { onEnd }: WorkerProcessOptions): void {
    this.#begun.resolve(why);
    this.#ended.resolve(undefined);
    this.#calls.end();
    onEnd(this, why);
  }
}
