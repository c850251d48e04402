// Stands between the relay and the session of a client that may move. While the server is asked a question, the
// client's bytes wait, and what the server says goes to the question. One question at a time.
import type { BackendEnding } from '../../model/close-reason.ts';
import type { Clock, Instant } from '../../model/instant.ts';
import { LONGEST_QUESTION_MS } from '../../reports/session-move.ts';
import { LoginTranscript } from '../../wire/follow/login-transcript.ts';
import type { TranscriptLogin } from '../../wire/follow/login-transcript.ts';
import { SessionMemory } from '../../wire/follow/session-memory.ts';
import type { Taps } from '../relay/directions.ts';
import type { MovingPart, RelayedSession } from '../relay/relayed-session.ts';
import type { Gate } from '../relay/stall-gate.ts';

/** A conversation of ours with the server of a session. */
export interface Question<Result> {
  /** The bytes for the server. */
  start(): Uint8Array;
  /** Takes the next bytes of the server. */
  take(chunk: Uint8Array): QuestionStep<Result>;
}

export type QuestionStep<Result> =
  | { readonly kind: 'wait' }
  | { readonly kind: 'send'; readonly bytes: Uint8Array }
  /** `toClient`: what the server said to the client meanwhile. */
  | { readonly kind: 'done'; readonly result: Result; readonly toClient: Uint8Array };

interface Asking {
  readonly take: (chunk: Uint8Array) => void;
  /** Resolves when the client's bytes may go on. */
  readonly wait: Promise<void>;
  readonly goOn: () => void;
  readonly cancelLimit: () => void;
  /** Run when no question is under way any more, or when the answer is late. */
  readonly next: (() => void)[];
  isLate: boolean;
}

/** The parts of a login that it takes to repeat it. */
export interface RepeatableLogin {
  readonly login: TranscriptLogin;
  /** The body of the server's NegotiateProtocolVersion. */
  readonly negotiated: Uint8Array | undefined;
  /** The first number of server_version: 18. */
  readonly serverMajor: number;
}

const UNKNOWN_LOGIN: TranscriptLogin = { method: 'other' };

/** Reads along with a session. */
export interface Reader {
  /** Undefined: the client's bytes may go on. */
  wait(): Promise<void> | undefined;
  /** Returns the bytes that the client may read now, which may be more than the chunk. Undefined: none. */
  fromServer(chunk: Uint8Array): Uint8Array | undefined;
  /** The server answered a question of ours, and said something to the client meanwhile. */
  saidMeanwhile(): void;
  /** The server has ended the connection. True: the session is parked, or has ended. */
  serverEnded(ending: BackendEnding): boolean;
}

/** The parts of the mover that it uses. */
interface InterposedServices {
  readonly clock: Clock;
  readonly sharedTold: (told: string) => string;
}

export class Interposed implements MovingPart, Taps {
  readonly memory: SessionMemory;
  readonly #clock: Clock;
  /** Also the taps behind this one. */
  #session: RelayedSession | undefined;
  #asking: Asking | undefined;
  /** Requests of the client that wait until the one before them is answered. */
  #held: PromiseWithResolvers<void> | undefined;
  /** Until the login is over. */
  #transcript: LoginTranscript | undefined;
  // Of RepeatableLogin.
  #login = UNKNOWN_LOGIN;
  #negotiated: Uint8Array | undefined;
  #serverMajor = 0;
  /** Where the session may move after a loss without warning. */
  #beside: Reader | undefined;
  #quietSince: Instant;

  /** `keepsLogin`: the role is one whose sessions move. Nothing of any other login is kept. */
  constructor({ clock, sharedTold }: InterposedServices, keepsLogin: boolean) {
    this.#clock = clock;
    this.#transcript = keepsLogin ? new LoginTranscript() : undefined;
    this.#quietSince = clock.now();
    this.memory = new SessionMemory(sharedTold);
  }

  /** Has it read along from now on. To be called before the relay begins. */
  readAlong(beside: Reader): void {
    this.#beside = beside;
  }

  /** The session that it serves; undefined before its relay is made. */
  session(): RelayedSession | undefined {
    return this.#session;
  }

  tapsOver(session: RelayedSession): Taps {
    this.#session = session;
    return this;
  }

  gateBefore(gate: Gate): Gate {
    return () => gate() ?? this.#asking?.wait ?? this.#held?.promise ?? this.#beside?.wait();
  }

  /** True: `run` is called when the question that is under way has its answer, or is late. */
  isAsking(run: () => void): boolean {
    const asking = this.#asking;
    if (asking === undefined || asking.isLate) return false;
    asking.next.push(run);
    return true;
  }

  isQuestioned(): boolean {
    return this.#asking !== undefined;
  }

  /** The server still owes the answer to a question that was given up. */
  isLate(): boolean {
    return this.#asking?.isLate === true;
  }

  /**
   * To be called between two transactions, and while no other question is under way. Calls `onDone` once, synchronously
   * with the last byte of the answer; with undefined when the answer is late. Not at all when the session ends before.
   */
  ask<Result>(question: Question<Result>, onDone: (result: Result | undefined) => void): void {
    let isReported = false;
    const report = (result: Result | undefined): void => {
      if (isReported) return;
      isReported = true;
      onDone(result);
    };
    const { promise: wait, resolve: goOn } = Promise.withResolvers<void>();
    // The client's bytes wait until the answer is there all the same.
    const cancelLimit = this.#clock.schedule(LONGEST_QUESTION_MS, () => {
      asking.isLate = true;
      report(undefined);
      for (const run of asking.next.splice(0)) run();
    });
    const take = (chunk: Uint8Array): void => {
      const step = question.take(chunk);
      if (step.kind === 'send') this.#session?.tellServer(step.bytes);
      if (step.kind !== 'done') return;
      const next = asking.next.splice(0);
      this.stop();
      if (step.toClient.length > 0) {
        this.#beside?.saidMeanwhile();
        this.#session?.passToClient(step.toClient);
      }
      report(step.result);
      for (const run of next) run();
    };
    const asking: Asking = { take, wait, goOn, cancelLimit, next: [], isLate: false };
    this.#asking = asking;
    this.goOn();
    this.#session?.tellServer(question.start());
  }

  /** The answer is not wanted any more, and the client's bytes may go on. */
  stop(): void {
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

  login(): RepeatableLogin {
    return { login: this.#login, negotiated: this.#negotiated, serverMajor: this.#serverMajor };
  }

  /** The way of its login is not known yet. */
  isLoggingIn(): boolean {
    return this.#transcript !== undefined;
  }

  /** The session is over: overwrites what the login left. */
  end(): void {
    this.stop();
    const login = this.#login;
    this.#login = UNKNOWN_LOGIN;
    this.#transcript?.clear();
    this.#transcript = undefined;
    for (const bytes of Object.values(login)) if (typeof bytes !== 'string') bytes.fill(0);
  }

  fromClient(chunk: Uint8Array): number | undefined {
    this.#transcript?.fromClient(chunk);
    const passing = this.#session?.fromClientOneByOne(chunk);
    if (passing !== undefined && passing < chunk.length) this.#held ??= Promise.withResolvers<void>();
    return passing;
  }

  fromBackend(chunk: Uint8Array): boolean {
    if (this.#transcript !== undefined) this.#readLogin(this.#transcript, chunk);
    if (this.#asking !== undefined) {
      this.#asking.take(chunk);
      return false;
    }
    this.#quietSince = this.#clock.now();
    const passing = this.#beside === undefined ? chunk : this.#beside.fromServer(chunk);
    if (passing === chunk) return this.#session?.fromBackend(chunk) === true;
    if (passing !== undefined) this.#session?.passToClient(passing);
    return false;
  }

  serverEnded(ending: BackendEnding): boolean {
    return this.#beside?.serverEnded(ending) === true;
  }

  passedToClient(): void {
    this.#session?.passedToClient();
    if (this.#held !== undefined && this.#session?.mayGoOn() === true) this.goOn();
  }

  /** Requests of the client that were held back for a pause go on. */
  goOn(): void {
    this.#held?.resolve();
    this.#held = undefined;
  }

  #readLogin(transcript: LoginTranscript, chunk: Uint8Array): void {
    transcript.fromBackend(chunk);
    if (!transcript.isDone()) return;
    this.#transcript = undefined;
    const told = transcript.parameters();
    this.memory.begins(told);
    this.#login = transcript.login();
    this.#negotiated = transcript.negotiated();
    this.#serverMajor = Number.parseInt(told.get('server_version') ?? '', 10);
  }
}
