// One worker: a proxy on ports that it shares with the other workers. It decides by itself, from the snapshots that the
// main process sends. When no more snapshots come, its evidence expires by its own clock. The main process does for all
// workers what is needed once: monitoring the cluster, the log, reading certificate files.
import type { AuthorityReading } from '../model/authority.ts';
import type { BranchLookup } from '../model/branch.ts';
import type { Clock } from '../model/instant.ts';
import type { OpenVerifiers } from '../model/moves.ts';
import type { KeyPairReading } from '../model/key-pair.ts';
import type { MemberName } from '../model/member.ts';
import type { Snapshot } from '../core/snapshot.ts';
import type { SessionQuery } from '../reports/session-list.ts';
import { Decider } from '../monitor/decider.ts';
import { takeFault } from '../proxy/fault.ts';
import { createProxy } from '../proxy/proxy.ts';
import type { CancelOutcome } from '../proxy/peers.ts';
import type { LocalProxy, PreparedPolicy } from '../proxy/proxy-interface.ts';
import type { DescriptorBudget } from '../proxy/options.ts';
import type { FromWorker, WorkerOrder, ToWorker, Usage, WorkerPolicy } from './messages.ts';
import { PendingReplies } from './pending-replies.ts';
import { Reporter } from './reporter.ts';
import { withDelta } from './snapshot-delta.ts';
import { LastReport } from './shared-limits.ts';
import { withTimeout } from './with-timeout.ts';

export interface WorkerOptions {
  readonly send: (message: FromWorker) => void;
  /** Its instants equal those of the main process. */
  readonly clock: Clock;
  readonly random: () => number;
  readonly usage: () => Usage;
  readonly openVerifiers: OpenVerifiers;
  /** The limit that file descriptors set. Absent: no limit. */
  readonly descriptors?: DescriptorBudget | undefined;
}

type Begin = Extract<ToWorker, { kind: 'begin' }>;

/**
 * Longer than the main process needs to find the worker of a cancel request (200 ms) and that worker needs to forward
 * it (5 s). Without a reply by then the request is dropped: it may be under way, and must not be sent twice.
 * Milliseconds.
 */
const CANCEL_MS = 6_000;

export class Worker {
  readonly #options: WorkerOptions;
  readonly #proxy: LocalProxy;
  readonly #decider: Decider;
  readonly #reporter: Reporter;
  readonly #fresh = new PendingReplies<undefined>();
  readonly #keyPairs = new PendingReplies<KeyPairReading>();
  readonly #authorities = new PendingReplies<AuthorityReading>();
  readonly #cancels = new PendingReplies<CancelOutcome>();
  readonly #branches = new PendingReplies<BranchLookup>();
  #policy: WorkerPolicy;
  #snapshot: Snapshot;
  readonly #others = new LastReport();
  #prepared:
    | { readonly policy: WorkerPolicy; readonly proxy: Extract<PreparedPolicy, { kind: 'prepared' }> }
    | undefined;

  constructor({ policy, snapshot, others, processes, lastId }: Begin, options: WorkerOptions) {
    const { clock, send, random, usage } = options;
    this.#options = options;
    this.#policy = policy;
    this.#snapshot = snapshot;
    this.#others.update(others);
    this.#reporter = new Reporter({
      clock,
      read: () => ({
        counts: this.#proxy.counts(),
        clients: this.#proxy.clients(),
        tally: this.#proxy.tally(),
        certificate: this.#proxy.certificate(),
        usage: usage(),
      }),
      send: (report) => send({ kind: 'report', report }),
    });
    this.#decider = new Decider({
      known: () => ({ policy: this.#policy, snapshot: this.#snapshot }),
      clock,
      onTable: (actions) => this.#proxy.tableChanged(actions),
      onStall: (...stall) => this.#proxy.stalled(...stall),
    });
    this.#proxy = createProxy({
      ...policy,
      table: () => this.#decider.table(),
      snapshot: () => this.#snapshot,
      decideIfDue: () => this.#decider.decideIfDue(),
      wal: () => this.#decider.wal(),
      freshen: (pool, since) => this.#fresh.request((id) => send({ kind: 'freshen', id, pool, since })),
      onTrigger: (trigger) => send({ kind: 'trigger', trigger }),
      onEvent: (event) => this.#reporter.happened(event),
      locateBranch: (target, access) =>
        this.#branches.request((id) => send({ kind: 'locate_branch', id, target, access })),
      readKeyPair: (files) => this.#keyPairs.request((id) => send({ kind: 'read_key_pair', id, files })),
      readAuthorities: (file) => this.#authorities.request((id) => send({ kind: 'read_authorities', id, file })),
      clock,
      random,
      openVerifiers: options.openVerifiers,
      descriptors: options.descriptors,
      peers: {
        processes,
        lastId,
        others: () => this.#others.tally(),
        onChange: () => this.#reporter.changed(),
        passOnCancel: (packet, pool) => this.#passOnCancel(packet, pool),
      },
    });
    this.#decider.decide();
  }

  /** Nothing has caught it. */
  fault(error: unknown): void {
    takeFault(error, (event) => this.#reporter.happened(event));
  }

  /** Binds the ports and reports the result to the main process. */
  async listen(): Promise<void> {
    const listening = await this.#proxy.listen();
    this.#reporter.report();
    this.#options.send({ kind: 'begun', problem: listening.kind === 'failed' ? listening.message : undefined });
  }

  take(message: Exclude<ToWorker, Begin>): void {
    const { send } = this.#options;
    switch (message.kind) {
      case 'snapshot':
        this.#snapshot = withDelta(this.#snapshot, message.delta);
        return this.#decider.decide();
      case 'others':
        return this.#others.update(message.tally);
      case 'fresh':
        return this.#fresh.resolve(message.id, undefined);
      case 'key_pair':
        return this.#keyPairs.resolve(message.id, message.reading);
      case 'authorities':
        return this.#authorities.resolve(message.id, message.reading);
      case 'cancel_passed':
        return this.#cancels.resolve(message.id, message.outcome);
      case 'branch_located':
        return this.#branches.resolve(message.id, message.lookup);
      case 'find_cancel':
        return send({ kind: 'cancel_found', id: message.id, isFound: this.#proxy.knowsCancel(message.packet) });
      case 'take_cancel':
        return this.#proxy.passOnCancel(message.packet, message.pool, (problem) =>
          send({ kind: 'cancel_taken', id: message.id, problem }),
        );
      case 'do':
        return void this.#do(message.id, message.order);
      case 'prepare':
        return void this.#prepare(message.policy);
      case 'apply':
        return this.#apply();
      case 'abandon':
        this.#prepared?.proxy.abandon();
        this.#prepared = undefined;
        return undefined;
      case 'list_sessions':
        return void this.#listSessions(message.id, message.query);
      case 'kill_session':
        return void this.#killSession(message.id, message.session);
      case 'move_session':
        return void this.#moveSession(message.id, message.session);
      case 'preflight':
        return void this.#preflight(message.id, message.member);
      case 'close':
        return this.#close();
    }
  }

  async #prepare(policy: WorkerPolicy): Promise<void> {
    const proxy = await this.#proxy.prepare(policy);
    if (proxy.kind === 'prepared') this.#prepared = { policy, proxy };
    this.#options.send({ kind: 'prepared', problem: proxy.kind === 'failed' ? proxy.message : undefined });
  }

  /** The main process decides by the new policy as it sends this message, and so does the worker. */
  #apply(): void {
    if (this.#prepared === undefined) return;
    const { policy, proxy } = this.#prepared;
    this.#prepared = undefined;
    proxy.apply();
    this.#policy = policy;
    this.#decider.decide();
  }

  async #passOnCancel(packet: Uint8Array, pool: string): Promise<CancelOutcome> {
    const { send, clock } = this.#options;
    const outcome = this.#cancels.request((id) => send({ kind: 'pass_cancel', id, packet, pool }));
    return (
      (await withTimeout(clock, CANCEL_MS, outcome)) ?? { kind: 'done', problem: 'no answer from the main process' }
    );
  }

  async #listSessions(id: number, query: SessionQuery): Promise<void> {
    this.#options.send({ kind: 'session_list', id, list: await this.#proxy.sessions(query) });
  }

  async #killSession(id: number, session: number): Promise<void> {
    this.#options.send({ kind: 'session_killed', id, result: await this.#proxy.kill(session) });
  }

  async #moveSession(id: number, session: number): Promise<void> {
    this.#options.send({ kind: 'session_moved', id, result: await this.#proxy.move(session) });
  }

  async #preflight(id: number, member: MemberName): Promise<void> {
    this.#options.send({ kind: 'preflight_done', id, preflight: await this.#proxy.preflight(member) });
  }

  async #do(id: number, order: WorkerOrder): Promise<void> {
    await this.#perform(order);
    this.#reporter.report();
    this.#options.send({ kind: 'done', id });
  }

  #perform(order: WorkerOrder): Promise<void> {
    switch (order.what) {
      case 'report':
        return Promise.resolve();
      case 'stop_accepting':
        return this.#proxy.stopAccepting();
      case 'become_empty':
        return this.#proxy.whenEmpty(order.limitMs);
      case 'drain':
        return this.#proxy.drain(order.limitMs);
    }
  }

  #close(): void {
    this.#proxy.close();
    this.#decider.stop();
    this.#reporter.report();
    this.#reporter.stop();
    this.#options.send({ kind: 'closed' });
  }
}
