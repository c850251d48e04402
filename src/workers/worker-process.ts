// The main process's end of one worker, from its start to its end: what it is asked, and its signs of life. Every question is settled
// when it ends.
import type { Instant } from '../model/instant.ts';
import type { PoolName } from '../model/policy.ts';
import type { Channel, StartProcess } from './fork.ts';
import type { FromWorker, Order, Report, ToWorker, WorkerPolicy } from './messages.ts';
import { Questions } from './pending-replies.ts';

export interface HandleInputs {
  /** No two that ever ran have the same. */
  readonly id: number;
  readonly now: Instant;
  readonly begin: Extract<ToWorker, { kind: 'begin' }>;
  readonly start: StartProcess;
  /** Everything but the answers to what this end asked. */
  readonly onMessage: (worker: Handle, message: Said) => void;
  /** Once. `why`: `killed by SIGKILL`. */
  readonly onEnd: (worker: Handle, why: string) => void;
}

/** What a worker says by itself. */
export type Said = Exclude<
  FromWorker,
  { kind: 'begun' | 'prepared' | 'done' | 'cancel_found' | 'cancel_taken' | 'closed' }
>;

/** Of a beat each second: a worker that misses so many is stuck. A start takes its time on a busy machine. */
const MOST_MISSED = 10;
const MOST_MISSED_AT_START = 60;

export class Handle {
  readonly id: number;
  readonly startedAt: Instant;
  /** Undefined before the first. */
  report: Report | undefined;
  /** It accepts clients. */
  hasBegun = false;
  /** Why it cannot begin; settles when that is known, at the latest when it ends. */
  readonly begun: Promise<string | undefined>;
  /** Settles when it is no more. */
  readonly ended: Promise<undefined>;
  readonly #channel: Channel;
  readonly #done = new Questions<undefined>();
  readonly #found = new Questions<boolean>();
  readonly #cancels = new Questions<string | undefined>();
  readonly #begun = Promise.withResolvers<string | undefined>();
  readonly #ended = Promise.withResolvers<undefined>();
  #prepared = Promise.withResolvers<string | undefined>();
  #missed = 0;
  #judgement: string | undefined;

  constructor(inputs: HandleInputs) {
    this.id = inputs.id;
    this.startedAt = inputs.now;
    this.begun = this.#begun.promise;
    this.ended = this.#ended.promise;
    this.#channel = inputs.start({
      onMessage: (message) => this.#take(message, inputs),
      onEnd: (why) => this.#end(this.#judgement ?? why, inputs),
    });
    this.send(inputs.begin);
  }

  get pid(): number | undefined {
    return this.#channel.pid;
  }

  send(message: ToWorker): void {
    this.#channel.send(message);
  }

  /** Why it could not; undefined when it could, and of one that ended: whoever comes in its place begins with what is then. */
  prepare(policy: WorkerPolicy): Promise<string | undefined> {
    this.#prepared = Promise.withResolvers();
    this.send({ kind: 'prepare', policy });
    return Promise.race([this.#prepared.promise, this.ended]);
  }

  /** Settles when it is done. */
  do(order: Order): Promise<undefined> {
    return this.#done.ask((id) => this.send({ kind: 'do', id, order }));
  }

  /** Whether one of its sessions has the request's key. */
  knowsCancel(packet: Uint8Array): Promise<boolean> {
    return this.#found.ask((id) => this.send({ kind: 'find_cancel', id, packet }));
  }

  /**
   * Has it pass the request on. Settles when that is over, with why it reached nobody; undefined when it reached its
   * server.
   */
  takeCancel(packet: Uint8Array, pool: PoolName): Promise<string | undefined> {
    return this.#cancels.ask((id) => this.send({ kind: 'take_cancel', id, packet, pool }));
  }

  /** `why`: what its end is told with. */
  kill(why: string): void {
    this.#judgement ??= why;
    this.#channel.kill();
  }

  /**
   * To be called once a second. One that is stuck ends. Counted in calls and not in time: when this process or the whole machine
   * stood still, nobody has missed anything.
   */
  expectBeat(): void {
    this.#missed += 1;
    if (this.#missed > (this.hasBegun ? MOST_MISSED : MOST_MISSED_AT_START))
      this.kill(`stuck: said nothing for ${this.#missed} s`);
  }

  #take(message: FromWorker, { onMessage }: HandleInputs): void {
    this.#missed = 0;
    switch (message.kind) {
      case 'begun':
        this.hasBegun = message.problem === undefined;
        return this.#begun.resolve(message.problem);
      case 'prepared':
        return this.#prepared.resolve(message.problem);
      case 'done':
        return this.#done.answer(message.id, undefined);
      case 'cancel_found':
        return this.#found.answer(message.id, message.isFound);
      case 'cancel_taken':
        return this.#cancels.answer(message.id, message.problem);
      case 'closed':
        return undefined;
      case 'report':
        this.report = message.report;
        return onMessage(this, message);
      case 'smell':
      case 'freshen':
      case 'read_key_pair':
      case 'pass_cancel':
        return onMessage(this, message);
    }
  }

  #end(why: string, { onEnd }: HandleInputs): void {
    this.#begun.resolve(why);
    this.#ended.resolve(undefined);
    this.#done.answerAll(undefined);
    this.#found.answerAll(false);
    this.#cancels.answerAll('the worker of its session ended');
    onEnd(this, why);
  }
}
