// The main process's end of one worker, from its start to its end: requests to it and its signs of life. When the
// worker ends, every pending request is settled.
import type { Instant } from '../model/instant.ts';
import type { MemberName } from '../model/member.ts';
import type { PoolName } from '../model/policy.ts';
import type { Preflight } from '../reports/preflight.ts';
import type { KillResult, SessionList, SessionQuery } from '../reports/session-list.ts';
import type { MoveResult } from '../reports/session-move.ts';
import type { Channel, StartProcess } from './fork.ts';
import type { FromWorker, WorkerOrder, Report, ToWorker, WorkerPolicy } from './messages.ts';
import { PendingReplies } from './pending-replies.ts';

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

/** Messages that a worker sends without a request from this end. */
export type WorkerNotice = Exclude<
  FromWorker,
  {
    kind:
      | 'begun'
      | 'prepared'
      | 'done'
      | 'cancel_found'
      | 'cancel_taken'
      | 'session_list'
      | 'session_killed'
      | 'session_moved'
      | 'preflight_done'
      | 'closed';
  }
>;

/**
 * A worker that misses this many reports (one is due each second) is stuck. A start may take longer on a busy machine.
 */
const MAX_MISSED = 10;
const MAX_MISSED_AT_START = 60;

export class WorkerProcess {
  readonly id: number;
  readonly startedAt: Instant;
  /** The last report; undefined before the first. */
  report: Report | undefined;
  /** The worker accepts clients. */
  hasBegun = false;
  /** Why the worker cannot start, undefined when it can. Settles at the latest when the worker ends. */
  readonly begun: Promise<string | undefined>;
  /** Settles when the process has ended. */
  readonly ended: Promise<undefined>;
  readonly #channel: Channel;
  readonly #done = new PendingReplies<undefined>();
  readonly #found = new PendingReplies<boolean>();
  readonly #cancels = new PendingReplies<string | undefined>();
  readonly #lists = new PendingReplies<SessionList | undefined>();
  readonly #kills = new PendingReplies<KillResult>();
  readonly #moves = new PendingReplies<MoveResult>();
  readonly #preflights = new PendingReplies<Preflight | undefined>();
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

  /** Settles when the order is carried out, or the worker has ended. */
  do(order: WorkerOrder): Promise<undefined> {
    return this.#done.request((id) => this.send({ kind: 'do', id, order }));
  }

  /** Whether one of the worker's sessions has the key of the cancel request. */
  knowsCancel(packet: Uint8Array): Promise<boolean> {
    return this.#found.request((id) => this.send({ kind: 'find_cancel', id, packet }));
  }

  /** The worker forwards the cancel request. Settles with the problem, or with undefined when it reached its server. */
  takeCancel(packet: Uint8Array, pool: PoolName): Promise<string | undefined> {
    return this.#cancels.request((id) => this.send({ kind: 'take_cancel', id, packet, pool }));
  }

  /** Undefined: the worker has ended. */
  listSessions(query: SessionQuery): Promise<SessionList | undefined> {
    return this.#lists.request((id) => this.send({ kind: 'list_sessions', id, query }));
  }

  killSession(session: number): Promise<KillResult> {
    return this.#kills.request((id) => this.send({ kind: 'kill_session', id, session }));
  }

  moveSession(session: number): Promise<MoveResult> {
    return this.#moves.request((id) => this.send({ kind: 'move_session', id, session }));
  }

  /** Undefined: the worker has ended. */
  preflight(member: MemberName): Promise<Preflight | undefined> {
    return this.#preflights.request((id) => this.send({ kind: 'preflight', id, member }));
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
      case 'done':
        return this.#done.resolve(message.id, undefined);
      case 'cancel_found':
        return this.#found.resolve(message.id, message.isFound);
      case 'cancel_taken':
        return this.#cancels.resolve(message.id, message.problem);
      case 'session_list':
        return this.#lists.resolve(message.id, message.list);
      case 'session_killed':
        return this.#kills.resolve(message.id, message.result);
      case 'session_moved':
        return this.#moves.resolve(message.id, message.result);
      case 'preflight_done':
        return this.#preflights.resolve(message.id, message.preflight);
      case 'closed':
        return undefined;
      case 'report':
        this.report = message.report;
        return onMessage(this, message);
      case 'trigger':
      case 'freshen':
      case 'read_key_pair':
      case 'read_authorities':
      case 'pass_cancel':
      case 'locate_branch':
        return onMessage(this, message);
    }
  }

  #end(why: string, { onEnd }: WorkerProcessOptions): void {
    this.#begun.resolve(why);
    this.#ended.resolve(undefined);
    this.#done.resolveAll(undefined);
    this.#found.resolveAll(false);
    this.#cancels.resolveAll('the worker of its session ended');
    this.#lists.resolveAll(undefined);
    this.#kills.resolveAll({ kind: 'unknown' });
    this.#moves.resolveAll({ kind: 'unknown' });
    this.#preflights.resolveAll(undefined);
    onEnd(this, why);
  }
}
