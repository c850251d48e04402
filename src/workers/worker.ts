// One worker: a proxy of its own on ports that it shares with the others. It decides where clients go by itself, from the snapshot that the
// main process sends, and what it knows runs out by its own clock when no more of it comes. Whatever is for all of them (the cluster,
// the log, the certificate's files) it asks of, or tells, the main process.
import type { Clock } from '../model/instant.ts';
import type { KeyPairReading } from '../model/key-pair.ts';
import type { Snapshot } from '../core/snapshot.ts';
import { Decider } from '../monitor/decider.ts';
import { createProxy } from '../proxy/proxy.ts';
import type { CancelOutcome } from '../proxy/peers.ts';
import type { LocalProxy, PreparedPolicy } from '../proxy/proxy.ts';
import type { DescriptorBudget } from '../proxy/accept/descriptor-limit.ts';
import type { FromWorker, Order, ToWorker, Usage, WorkerPolicy } from './messages.ts';
import { Questions } from './pending-replies.ts';
import { Reporter } from './reporter.ts';
import { withDelta } from './snapshot-delta.ts';
import { Told } from './tallies.ts';
import { within } from './with-timeout.ts';

export interface WorkerOptions {
  readonly send: (message: FromWorker) => void;
  /** Its instants are those of the main process. */
  readonly clock: Clock;
  readonly random: () => number;
  readonly usage: () => Usage;
  /** What this process has file descriptors for. Absent: enough. */
  readonly descriptors?: DescriptorBudget | undefined;
}

type Begin = Extract<ToWorker, { kind: 'begin' }>;

/**
 * Longer than the main process takes to find the worker of a cancel request (200 ms) and that worker to pass it on (5
 * s). Without an answer by then the request is dropped: it may be under way, and must not be sent twice. Milliseconds.
 */
const CANCEL_MS = 6_000;

export class Worker {
  readonly #options: WorkerOptions;
  readonly #proxy: LocalProxy;
  readonly #decider: Decider;
  readonly #reporter: Reporter;
  readonly #fresh = new Questions<undefined>();
  readonly #keyPairs = new Questions<KeyPairReading>();
  readonly #cancels = new Questions<CancelOutcome>();
  #policy: WorkerPolicy;
  #snapshot: Snapshot;
  readonly #others = new Told();
  #prepared:
    | { readonly policy: WorkerPolicy; readonly proxy: Extract<PreparedPolicy, { kind: 'prepared' }> }
    | undefined;

  constructor({ policy, snapshot, others, processes, lastId }: Begin, options: WorkerOptions) {
    const { clock, send, random, usage } = options;
    this.#options = options;
    this.#policy = policy;
    this.#snapshot = snapshot;
    this.#others.tell(others);
    this.#reporter = new Reporter({
      clock,
      read: () => ({
        counts: this.#proxy.counts(),
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
      freshen: (pool, since) => this.#fresh.ask((id) => send({ kind: 'freshen', id, pool, since })),
      onTrigger: (smell) => send({ kind: 'smell', smell }),
      onEvent: (event) => this.#reporter.happened(event),
      readKeyPair: (files) => this.#keyPairs.ask((id) => send({ kind: 'read_key_pair', id, files })),
      clock,
      random,
      descriptors: options.descriptors,
      peers: {
        processes,
        lastId,
        others: () => this.#others.tally(),
        onChange: () => this.#reporter.changed(),
        passOnCancel: (packet, pool) => this.#askToCancel(packet, pool),
      },
    });
    this.#decider.decide();
  }

  /** Binds its ports; tells the main process whether it could. */
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
        return this.#others.tell(message.tally);
      case 'fresh':
        return this.#fresh.answer(message.id, undefined);
      case 'key_pair':
        return this.#keyPairs.answer(message.id, message.reading);
      case 'cancel_passed':
        return this.#cancels.answer(message.id, message.outcome);
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
      case 'close':
        return this.#close();
    }
  }

  async #prepare(policy: WorkerPolicy): Promise<void> {
    const proxy = await this.#proxy.prepare(policy);
    if (proxy.kind === 'prepared') this.#prepared = { policy, proxy };
    this.#options.send({ kind: 'prepared', problem: proxy.kind === 'failed' ? proxy.message : undefined });
  }

  /** The main process decides by the new policy in the same step as it sends this; so does the worker. */
  #apply(): void {
    if (this.#prepared === undefined) return;
    const { policy, proxy } = this.#prepared;
    this.#prepared = undefined;
    proxy.apply();
    this.#policy = policy;
    this.#decider.decide();
  }

  async #askToCancel(packet: Uint8Array, pool: string): Promise<CancelOutcome> {
    const { send, clock } = this.#options;
    const outcome = this.#cancels.ask((id) => send({ kind: 'pass_cancel', id, packet, pool }));
    return (await within(clock, CANCEL_MS, outcome)) ?? { kind: 'done', problem: 'no answer from the main process' };
  }

  async #do(id: number, order: Order): Promise<void> {
    await this.#perform(order);
    this.#reporter.report();
    this.#options.send({ kind: 'done', id });
  }

  #perform(order: Order): Promise<void> {
    switch (order.what) {
      case 'tell':
        return Promise.resolve();
      case 'stop_accepting':
        return this.#proxy.stopAccepting();
      case 'become_empty':
        return this.#proxy.emptied(order.limitMs);
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
