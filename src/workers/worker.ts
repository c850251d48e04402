// One worker: a proxy on ports that it shares with the other workers. It decides by itself, from the snapshots that the
// main process sends. When no more snapshots come, its evidence expires by its own clock. The main process does for all
// workers what is needed once: monitoring the cluster, the log, reading certificate files.
import type { ProxyDependencies } from '../proxy/options.ts';
import type { Clock } from '../model/instant.ts';
import type { OpenVerifiers } from '../proxy/options.ts';
import type { Snapshot } from '../core/snapshot.ts';
import { Decider } from '../monitor/decider.ts';
import { takeFault } from '../proxy/fault.ts';
import { createProxy } from '../proxy/proxy.ts';
import type { CancelOutcome } from '../proxy/siblings.ts';
import type { LocalProxy, PreparedPolicy } from '../proxy/proxy-interface.ts';
import { answerCall, Calls, type CallHandlers } from './calls.ts';
import type { CallsOfMain, CallsOfWorker, CancelPacket, FromWorker, ToWorker } from './messages.ts';
import type { Usage, WorkerOrder, WorkerPolicy } from './messages.ts';
import { Reporter } from './reporter.ts';
import { withDelta } from './snapshot-delta.ts';
import { LastReport } from './shared-limits.ts';
import { withTimeout } from '../model/with-timeout.ts';

export interface WorkerOptions extends Pick<
  ProxyDependencies,
  'random' | 'descriptors' | 'openPositions' | 'locatePeer' | 'dial' | 'createServer' | 'readSilentConnections'
> {
  readonly send: (message: FromWorker) => void;
  /** Its instants equal those of the main process. */
  readonly clock: Clock;
  readonly usage: () => Usage;
  readonly openVerifiers: OpenVerifiers;
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
  readonly #calls: Calls<CallsOfWorker>;
  readonly #handlers: CallHandlers<CallsOfMain> = {
    do: (order) => this.#do(order),
    find_cancel: (packet) => this.#proxy.knowsCancel(packet),
    take_cancel: ({ packet, pool }) => new Promise((resolve) => this.#proxy.passOnCancel(packet, pool, resolve)),
    list_sessions: (query) => this.#proxy.sessions(query),
    kill_session: (session) => this.#proxy.kill(session),
    move_session: ({ session, mayAbort }) => this.#proxy.move(session, mayAbort),
    preflight: (member) => this.#proxy.preflight(member),
  };
  #policy: WorkerPolicy;
  #snapshot: Snapshot;
  readonly #others = new LastReport();
  #prepared:
    | { readonly policy: WorkerPolicy; readonly proxy: Extract<PreparedPolicy, { kind: 'prepared' }> }
    | undefined;

  constructor({ policy, snapshot, others, processes, lastId }: Begin, options: WorkerOptions) {
    const { clock, send, usage, ...passedOn } = options;
    const calls = new Calls<CallsOfWorker>(send);
    this.#calls = calls;
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
      ...passedOn,
      ...policy,
      table: () => this.#decider.table(),
      snapshot: () => this.#snapshot,
      decideIfDue: () => this.#decider.decideIfDue(),
      wal: () => this.#decider.wal(),
      freshen: (pool, since) => calls.call('freshen', { pool, since }),
      onTrigger: (trigger) => send({ kind: 'trigger', trigger }),
      onEvent: (event) => this.#reporter.happened(event),
      locateBranch: (target, access) => calls.call('locate_branch', { target, access }),
      readKeyPair: (files) => calls.call('read_key_pair', files),
      readPem: (file, kind) => calls.call('read_pem', { file, kind }),
      clock,
      siblings: {
        processes,
        lastId,
        others: () => this.#others.tally(),
        onChange: () => this.#reporter.changed(),
        passOnCancel: (packet, pool) => this.#passOnCancel({ packet, pool }),
        knowsCancel: async (packet) =>
          (await withTimeout(clock, CANCEL_MS, calls.call('find_cancel', packet))) ?? false,
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
    if (listening.kind === 'listening') await listening.serving;
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
      case 'reply':
        return this.#calls.take(message);
      case 'call':
        return void answerCall(this.#handlers, message, send);
      case 'prepare':
        return void this.#prepare(message.policy);
      case 'apply':
        return this.#apply();
      case 'abandon':
        this.#prepared?.proxy.abandon();
        this.#prepared = undefined;
        return undefined;
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

  async #passOnCancel(request: CancelPacket): Promise<CancelOutcome> {
    const outcome = this.#calls.call('pass_cancel', request);
    return (
      (await withTimeout(this.#options.clock, CANCEL_MS, outcome)) ?? {
        kind: 'done',
        problem: 'no answer from the main process',
      }
    );
  }

  async #do(order: WorkerOrder): Promise<undefined> {
    await this.#perform(order);
    this.#reporter.report();
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
