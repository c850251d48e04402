// The positions of servers, for causal reads: a connection to each server that is asked, and one number for every
// question of this process, whatever its server.
import type { Socket } from 'node:net';
import type { AskedServer, Positions, PrimaryWord, QuestionsPolicy } from '../model/causal-reads.ts';
import type { QuestionNumber, ReplicaWord, NoAnswer } from '../model/causal-reads.ts';
import type { Clock } from '../model/instant.ts';
import { isSameAddress, type MemberName } from '../model/member.ts';
import type { PositionEvent, PositionQuestion } from '../reports/position-events.ts';
import type { PositionReply } from '../wire/talk/position-question.ts';
import type { LogInOptions } from './log-in.ts';
import { PositionConnection, type PositionAnswer } from './position-connection.ts';

export interface PositionsOptions extends Pick<LogInOptions, 'tools' | 'endPointOf'> {
  readonly clock: Clock;
  /** Undefined: nobody may ask. */
  readonly policy: () => QuestionsPolicy | undefined;
  /** Rejects with words for people. */
  readonly connect: (server: AskedServer) => (signal: AbortSignal) => Promise<Socket>;
  readonly systemIdentifier: () => string | undefined;
  readonly onEvent: (event: PositionEvent) => void;
  /** Runs what must not belong to the session that asks. */
  readonly apart: (run: () => void) => void;
}

interface ServerLine {
  readonly server: AskedServer;
  readonly policy: QuestionsPolicy;
  readonly connection: PositionConnection;
}

const REPORT_MS = 1_000;

export function openPositions(options: PositionsOptions): AskedPositions {
  return new AskedPositions(options);
}

class AskedPositions implements Positions {
  readonly #options: PositionsOptions;
  readonly #open = new Map<MemberName, ServerLine>();
  /** Sums of a second, because there may be a thousand questions in it. */
  readonly #answered = new Map<string, Extract<PositionEvent, { kind: 'positions_answered' }>>();
  #newest: QuestionNumber = 0;
  #cancelReport: (() => void) | undefined;

  constructor(options: PositionsOptions) {
    this.#options = options;
  }

  newestQuestion(): QuestionNumber {
    return this.#newest;
  }

  async askPrimary(server: AskedServer): Promise<PrimaryWord | NoAnswer> {
    const answer = await this.#ask(server);
    if (answer.kind === 'unanswered') return { why: answer.why };
    return primaryWord(server, answer) ?? { why: 'it is in recovery' };
  }

  async askReplica(server: AskedServer): Promise<ReplicaWord | NoAnswer> {
    const answer = await this.#ask(server);
    if (answer.kind === 'unanswered') return { why: answer.why };
    return replicaWord(server, answer) ?? { why: 'it is not in recovery' };
  }

  lastPrimary(server: AskedServer): PrimaryWord | undefined {
    return primaryWord(server, this.#known(server)?.last());
  }

  lastReplica(server: AskedServer): ReplicaWord | undefined {
    return replicaWord(server, this.#known(server)?.last());
  }

  nudge(server: AskedServer): void {
    this.#known(server)?.nudge();
  }

  /** Closes all connections. */
  end(): void {
    for (const { connection } of this.#open.values()) connection.end();
    this.#open.clear();
    this.#cancelReport?.();
    this.#report();
  }

  /** The connection to this very address, by the policy in force. */
  #known({ member, address }: AskedServer): PositionConnection | undefined {
    const open = this.#open.get(member);
    const isCurrent = open?.policy === this.#options.policy() && isSameAddress(open?.server.address, address);
    return isCurrent ? open?.connection : undefined;
  }

  #ask(server: AskedServer): Promise<PositionAnswer> {
    const known = this.#known(server);
    if (known !== undefined) return known.ask();
    this.#open.get(server.member)?.connection.end();
    this.#open.delete(server.member);
    const policy = this.#options.policy();
    if (policy === undefined) return Promise.resolve({ kind: 'unanswered', why: '`questions` is not configured' });
    const connection = this.#connectionTo(server, policy);
    this.#open.set(server.member, { server, policy, connection });
    return connection.ask();
  }

  #connectionTo(server: AskedServer, policy: QuestionsPolicy): PositionConnection {
    const { connect, onEvent } = this.#options;
    const { member } = server;
    const connection: PositionConnection = new PositionConnection({
      ...this.#options,
      policy,
      connect: connect(server),
      nextNumber: () => (this.#newest += 1),
      onConnected: () => onEvent({ kind: 'positions_connected', member }),
      onFailed: (why) => onEvent({ kind: 'positions_failed', member, why: `${why} (role "${policy.user}")` }),
      onAnswered: (reply, durationMs) => this.#count(member, reply, durationMs),
      onUnused: () => {
        if (this.#open.get(member)?.connection === connection) this.#open.delete(member);
        onEvent({ kind: 'positions_unused', member });
      },
    });
    return connection;
  }

  #count(member: MemberName, { kind }: PositionReply, durationMs: number): void {
    const question = QUESTIONS[kind];
    if (question === undefined) return;
    const key = `${question} ${member}`;
    const before = this.#answered.get(key);
    const [count, totalMs] = [(before?.count ?? 0) + 1, (before?.totalMs ?? 0) + durationMs];
    this.#answered.set(key, { kind: 'positions_answered', member, question, count, totalMs });
    this.#cancelReport ??= this.#options.clock.schedule(REPORT_MS, () => this.#report());
  }

  #report(): void {
    this.#cancelReport = undefined;
    for (const event of this.#answered.values()) this.#options.onEvent(event);
    this.#answered.clear();
  }
}

const QUESTIONS: Partial<Record<PositionReply['kind'], PositionQuestion>> = {
  primary: 'primary',
  standby: 'replica',
  nudged: 'nudge',
};

function primaryWord({ member, address }: AskedServer, answer: PositionAnswer | undefined): PrimaryWord | undefined {
  if (answer?.kind !== 'primary') return undefined;
  const { timeline, written, flushed, question } = answer;
  return { member, address, question, timeline, written, flushed };
}

function replicaWord({ member, address }: AskedServer, answer: PositionAnswer | undefined): ReplicaWord | undefined {
  if (answer?.kind !== 'standby') return undefined;
  const { replayed, question } = answer;
  return { member, address, question, replayed };
}
