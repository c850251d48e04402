// One connection to one server, on which its positions are asked, one question at a time. It opens at the first
// question, opens again after a fault, and ends when nothing has been asked for a while.
import type { Socket } from 'node:net';
import type { QuestionNumber } from '../model/causal-reads.ts';
import { errnoText, errorCode } from '../model/errno.ts';
import type { Clock, Instant } from '../model/instant.ts';
import { nothing } from '../model/once.ts';
import { PositionTalk, type PositionReply } from '../wire/talk/position-question.ts';
import { logIn, type LogInOptions, type OpenedConnection } from './log-in.ts';

export interface PositionConnectionOptions extends LogInOptions {
  readonly clock: Clock;
  /** A question leaves now. */
  readonly nextNumber: () => QuestionNumber;
  /** That of the cluster. Undefined: it is not known. */
  readonly systemIdentifier: () => string | undefined;
  readonly onConnected: () => void;
  readonly onFailed: (why: string) => void;
  readonly onAnswered: (answer: PositionReply, durationMs: number) => void;
  /** Runs what must not belong to the session that asks. */
  readonly apart: (run: () => void) => void;
  /** Nothing has been asked for a while, and the connection is closed. */
  readonly onUnused: () => void;
}

export type PositionAnswer = NumberedPosition | { readonly kind: 'unanswered'; readonly why: string };
type NumberedPosition = Extract<PositionReply, { kind: 'primary' | 'standby' }> & { readonly question: QuestionNumber };

/** Milliseconds. */
const UNUSED_MS = 60_000;
/** For connect, login and preparation together. On a busy host they take seconds, and an attempt begins anew. */
const OPEN_MS = 10_000;
/** The server ends a question by itself after 1 s (POSITION_SETTINGS). */
const ANSWER_MS = 2_000;
const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 1_000;
const TERMINATE = Uint8Array.of(0x58, 0, 0, 0, 4);

interface NextQuestion {
  readonly promise: Promise<PositionAnswer>;
  readonly resolve: (answer: PositionAnswer) => void;
}

interface QuestionOnTheWay {
  readonly number: QuestionNumber;
  readonly since: Instant;
  /** Undefined: a nudge. */
  readonly asked: NextQuestion | undefined;
}

/** `paused`: until the next attempt. */
type Line =
  | { readonly kind: 'closed' | 'paused' | 'over' }
  | { readonly kind: 'opening'; readonly attempt: AbortController }
  | { readonly kind: 'open'; readonly socket: Socket; readonly talk: PositionTalk };

export class PositionConnection {
  readonly #options: PositionConnectionOptions;
  #line: Line = { kind: 'closed' };
  /** The next question: all who ask before it leaves share it. */
  #next: NextQuestion | undefined;
  #wantsNudge = false;
  #onTheWay: QuestionOnTheWay | undefined;
  #isPrepared = false;
  #last: NumberedPosition | undefined;
  #pauseMs = FIRST_WAIT_MS;
  #cancelPause = nothing;
  #cancelLimit = nothing;
  #usedAt: Instant;
  #cancelUse = nothing;

  constructor(options: PositionConnectionOptions) {
    this.#options = options;
    this.#usedAt = options.clock.now();
    this.#watchUse();
  }

  /** Never rejects. After a fault it waits for the next attempt, which comes within a second. */
  ask(): Promise<PositionAnswer> {
    this.#usedAt = this.#options.clock.now();
    const { promise } = (this.#next ??= Promise.withResolvers<PositionAnswer>());
    this.#proceed();
    return promise;
  }

  /** Without a connection there is nothing to nudge. */
  nudge(): void {
    this.#wantsNudge = this.#line.kind === 'open';
    this.#proceed();
  }

  /** The newest answer on a connection that has not ended since. To rely on it is a use of the connection. */
  last(): NumberedPosition | undefined {
    this.#usedAt = this.#options.clock.now();
    return this.#last;
  }

  /** For ever. */
  end(): void {
    this.#cancelUse();
    this.#close('the connection is closed', 'over');
  }

  #watchUse(): void {
    const { clock, onUnused } = this.#options;
    const leftMs = this.#usedAt + UNUSED_MS - clock.now();
    this.#cancelUse = clock.schedule(leftMs, () => {
      if (clock.now() < this.#usedAt + UNUSED_MS) return this.#watchUse();
      this.end();
      return onUnused();
    });
  }

  #proceed(): void {
    const line = this.#line;
    if (line.kind === 'over') return this.#unanswered('the connection is closed');
    if (line.kind === 'closed') return this.#options.apart(() => void this.#open());
    if (line.kind !== 'open' || !this.#isPrepared || this.#onTheWay !== undefined) return undefined;
    const { clock, nextNumber } = this.#options;
    const asked = this.#wantsNudge ? undefined : this.#next;
    if (asked === undefined && !this.#wantsNudge) return undefined;
    if (this.#wantsNudge) this.#wantsNudge = false;
    else this.#next = undefined;
    this.#onTheWay = { number: nextNumber(), since: clock.now(), asked };
    this.#limit(ANSWER_MS, 'no answer within 2 s');
    line.socket.write(line.talk.ask(asked === undefined ? 'nudge' : 'position'));
    return undefined;
  }

  #limit(limitMs: number, why: string): void {
    this.#cancelLimit();
    this.#cancelLimit = this.#options.clock.schedule(limitMs, () => this.#fail(why));
  }

  async #open(): Promise<void> {
    const attempt = new AbortController();
    this.#line = { kind: 'opening', attempt };
    this.#limit(OPEN_MS, 'no login within 10 s');
    try {
      const opened = await logIn(this.#options, attempt.signal);
      if (attempt.signal.aborted) opened.socket.destroy();
      else this.#begin(opened);
    } catch (error) {
      if (!attempt.signal.aborted) this.#fail(error instanceof Error ? error.message : 'unknown error');
    }
  }

  #begin({ socket, serverMajor }: OpenedConnection): void {
    const talk = new PositionTalk();
    const line = { kind: 'open', socket, talk } as const;
    this.#line = line;
    const ended = (why: string): void => {
      if (this.#line === line) this.#fail(why);
    };
    const closed = (): void => ended('the server closed the connection');
    socket
      .on('data', (chunk: Uint8Array) => {
        const reply = this.#line === line ? talk.take(chunk) : undefined;
        if (reply !== undefined) this.#take(reply);
      })
      .on('error', (error) => ended(errnoText(errorCode(error)) ?? error.message))
      .on('end', closed)
      .on('close', closed)
      .resume();
    socket.write(talk.prepare(serverMajor));
  }

  #take(reply: PositionReply): void {
    const question = this.#onTheWay;
    if (reply.kind === 'over') return this.#fail(reply.why);
    this.#cancelLimit();
    this.#onTheWay = undefined;
    if (reply.kind === 'prepared') return this.#prepared(reply.systemIdentifier);
    if (question === undefined) return this.#fail('an answer without a question');
    const { clock, onAnswered } = this.#options;
    onAnswered(reply, clock.now() - question.since);
    this.#pauseMs = FIRST_WAIT_MS;
    if (reply.kind === 'primary' || reply.kind === 'standby') {
      this.#last = { ...reply, question: question.number };
      question.asked?.resolve(this.#last);
    } else if (reply.kind === 'refused') question.asked?.resolve({ kind: 'unanswered', why: reply.why });
    return this.#proceed();
  }

  #prepared(systemIdentifier: string): void {
    const { systemIdentifier: ofCluster, onConnected } = this.#options;
    const expected = ofCluster() ?? systemIdentifier;
    if (expected !== systemIdentifier) {
      return this.#fail(`it is a server of another cluster: system identifier ${systemIdentifier}, not ${expected}`);
    }
    this.#isPrepared = true;
    onConnected();
    return this.#proceed();
  }

  #fail(why: string): void {
    const { clock, onFailed } = this.#options;
    this.#close(why, 'paused');
    onFailed(why);
    this.#cancelPause = clock.schedule(this.#pauseMs, () => {
      this.#line = { kind: 'closed' };
      if (this.#next !== undefined) this.#proceed();
    });
    this.#pauseMs = Math.min(2 * this.#pauseMs, LONGEST_WAIT_MS);
  }

  #close(why: string, kind: 'paused' | 'over'): void {
    const [line, question] = [this.#line, this.#onTheWay];
    this.#line = { kind };
    this.#last = undefined;
    this.#onTheWay = undefined;
    this.#isPrepared = false;
    this.#wantsNudge = false;
    this.#cancelLimit();
    this.#cancelPause();
    if (line.kind === 'opening') line.attempt.abort();
    if (line.kind === 'open') {
      line.socket.end(TERMINATE);
      line.socket.destroySoon();
    }
    question?.asked?.resolve({ kind: 'unanswered', why });
    this.#unanswered(why);
  }

  /** All who wait are told. */
  #unanswered(why: string): void {
    const next = this.#next;
    this.#next = undefined;
    next?.resolve({ kind: 'unanswered', why });
  }
}
