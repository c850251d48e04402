// Asks the server of a session. While it does, the client's bytes wait, and what the server says goes to the question.
// One question at a time.
import type { Clock, Instant } from '../../model/instant.ts';
import { nothing, once } from '../../model/once.ts';
import { LONGEST_QUESTION_MS } from '../../reports/session-move.ts';
import type { QuestionStep } from '../../wire/talk/session-question.ts';
import type { Conversation, Tap } from '../relay/conversation.ts';

/** A conversation of ours with the server of a session. */
export interface Question<Result> {
  /** The bytes for the server. */
  start(): Uint8Array;
  /** Takes the next bytes of the server. */
  take(chunk: Uint8Array): QuestionStep<Result>;
}

interface PendingQuestion {
  readonly take: (chunk: Uint8Array) => void;
  /** Resolves when the client's bytes may go on. */
  readonly wait: Promise<void>;
  readonly goOn: () => void;
  readonly cancelLimit: () => void;
  /** Run when no question is under way any more, or when the answer is late. */
  readonly next: (() => void)[];
  isLate: boolean;
}

interface Pause extends PromiseWithResolvers<void> {
  readonly look: () => void;
  /** Returns the bytes that the client may read now. Undefined: none. */
  reads?: (chunk: Uint8Array) => Uint8Array | undefined;
}

export class QuestionChannel implements Tap {
  readonly #clock: Clock;
  readonly #conversation: Conversation;
  /** The server said something to the client while it was asked. */
  onSaidMeanwhile = nothing;
  #asking: PendingQuestion | undefined;
  #pause: Pause | undefined;
  #quietSince: Instant;

  constructor(clock: Clock, conversation: Conversation) {
    this.#clock = clock;
    this.#conversation = conversation;
    this.#quietSince = clock.now();
  }

  wait(): Promise<void> | undefined {
    return this.#asking?.wait ?? this.#pause?.promise;
  }

  fromServer(chunk: Uint8Array): Uint8Array | undefined {
    if (this.#asking !== undefined) {
      this.#asking.take(chunk);
      return undefined;
    }
    this.#quietSince = this.#clock.now();
    const pause = this.#pause;
    if (pause === undefined) return chunk;
    // The follower reads the chunk after this.
    queueMicrotask(pause.look);
    return pause.reads === undefined ? chunk : pause.reads(chunk);
  }

  /** Further bytes of the client wait, and `look` is called after bytes of the server, until `goOn`. */
  pause(look: () => void): void {
    this.#pause = { ...Promise.withResolvers<void>(), look };
  }

  /** During a pause: what the server says goes through `reads`. */
  readThrough(reads: (chunk: Uint8Array) => Uint8Array | undefined): void {
    if (this.#pause !== undefined) this.#pause.reads = reads;
  }

  /** Bytes that wait go on behind this turn, and behind a question that is asked in it. */
  goOn(): void {
    this.#pause?.resolve();
    this.#pause = undefined;
  }

  isAsking(): boolean {
    return this.#asking !== undefined;
  }

  /** A question is under way that is not late. */
  isBusy(): boolean {
    return this.#asking?.isLate === false;
  }

  /** Calls `run` when the question that is under way has its answer, or is late. */
  whenFree(run: () => void): void {
    this.#asking?.next.push(run);
  }

  /**
   * To be called between two transactions, and while no other question is under way. Calls `onDone` once, synchronously
   * with the last byte of the answer; with undefined when the answer is late. Not at all when the session ends before.
   */
  ask<Result>(question: Question<Result>, onDone: (result: Result | undefined) => void): void {
    const conversation = this.#conversation;
    const report = once(onDone);
    const { promise: wait, resolve: goOn } = Promise.withResolvers<void>();
    // The client's bytes wait until the answer is there all the same.
    const cancelLimit = this.#clock.schedule(LONGEST_QUESTION_MS, () => {
      asking.isLate = true;
      report(undefined);
      for (const run of asking.next.splice(0)) run();
    });
    const take = (chunk: Uint8Array): void => {
      const step = question.take(chunk);
      if (step.kind === 'send') conversation.tellServer(step.bytes);
      if (step.kind !== 'done') return;
      const next = asking.next.splice(0);
      this.stop();
      if (step.toClient.length > 0) {
        this.onSaidMeanwhile();
        conversation.passToClient(step.toClient);
      }
      report(step.result);
      for (const run of next) run();
    };
    const asking: PendingQuestion = { take, wait, goOn, cancelLimit, next: [], isLate: false };
    this.#asking = asking;
    conversation.goOn();
    conversation.tellServer(question.start());
  }

  /** The answer is not wanted any more, and the client's bytes may go on. */
  stop(): void {
    this.goOn();
    const asking = this.#asking;
    if (asking === undefined) return;
    this.#asking = undefined;
    asking.cancelLimit();
    asking.goOn();
    for (const run of asking.next.splice(0)) run();
  }

  /** When the server last said something that was no answer to a question. */
  quietSince(): Instant {
    return this.#quietSince;
  }
}
