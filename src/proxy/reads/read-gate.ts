// Holds back the transactions of one session until its server shows every commit that was acknowledged before they
// arrived. It comes before all other gates. What is late ends by the pool's `causal_reads.late`.
import type { AskedServer, CausalReadsPolicy, QuestionNumber } from '../../model/causal-reads.ts';
import type { Clock, Instant } from '../../model/instant.ts';
import { nothing } from '../../model/once.ts';
import type { CausalReadResult } from '../../reports/causal-reads.ts';
import { asStepOf } from '../fault.ts';
import type { Conversation, TransactionGate } from '../relay/conversation.ts';
import type { Relay } from '../relay/relay.ts';
import type { Gate } from '../relay/stall-gate.ts';
import type { Server } from '../server.ts';
import type { SessionControl } from '../stage.ts';
import { lateError, staleNotice, type LateRead } from './late-read.ts';
import type { ReadCounts } from './read-counts.ts';
import type { ReadTrain, TrainRead } from './read-train.ts';

export interface ReadGateOptions {
  readonly session: SessionControl;
  readonly train: ReadTrain;
  readonly clock: Clock;
  readonly newestQuestion: () => QuestionNumber;
  /** As it is now. Undefined: a reload has removed it. */
  readonly policy: () => CausalReadsPolicy | undefined;
  readonly counts: ReadCounts;
}

/** A session is told this often that it reads without the guarantee. Milliseconds. */
const NOTICE_PAUSE_MS = 60_000;

/** `open`: the bytes that have come may pass. `late`: behind answers that are due, the wait ends. */
type State = 'closed' | 'waiting' | 'late' | 'open';

export class ReadGate implements TransactionGate {
  readonly #options: ReadGateOptions;
  #conversation: Conversation | undefined;
  #relay: Relay | undefined;
  /** Undefined: it is no member, or there is none. */
  #server: AskedServer | undefined;
  #connected: QuestionNumber = 0;
  #state: State = 'closed';
  /** Its bytes are just on their way to those that wait. */
  #isArriving = false;
  #read: TrainRead | undefined;
  #wait: PromiseWithResolvers<void> | undefined;
  #late: LateRead | undefined;
  #cancelLimit = nothing;
  #noticedAt: Instant = -Infinity;

  constructor(options: ReadGateOptions) {
    this.#options = options;
  }

  /** To be called before the first byte. */
  reads(conversation: Conversation): void {
    this.#conversation = conversation;
  }

  startsAt(server: Server, inner: Gate): Gate {
    this.#server = 'member' in server ? server : undefined;
    this.#connected = this.#options.newestQuestion();
    return () => this.#pass(inner);
  }

  relaysBy(relay: Relay): void {
    this.#relay = relay;
  }

  leaves(): void {
    this.#relay = undefined;
    if (this.#wait !== undefined) this.#end(undefined, 'closed');
  }

  takesPass(): boolean {
    const isOpen = this.#state === 'open' || this.#server === undefined || this.#options.policy() === undefined;
    this.#state = 'closed';
    return isOpen;
  }

  holds(): void {
    const { policy, train, clock, counts } = this.#options;
    const server = this.#server;
    const causalReads = policy();
    if (server === undefined || causalReads === undefined) return;
    const read = this.#newRead(server, clock.now());
    if (train.isFree(read)) {
      this.#state = 'open';
      return counts.count('free');
    }
    counts.begins();
    this.#state = 'waiting';
    this.#isArriving = true;
    this.#wait = Promise.withResolvers<void>();
    this.#cancelLimit = clock.schedule(causalReads.waitMs, () => this.#tooLate(causalReads.waitMs));
    this.#begin(read);
    return undefined;
  }

  cancelled(): void {
    if (this.#wait !== undefined) this.#end('cancelled', 'closed');
  }

  passedToClient(): void {
    if (this.#late !== undefined) this.#settle(this.#late);
  }

  /** What the session waits for. Undefined: it does not wait. */
  waiting(): LateRead | undefined {
    const read = this.#read;
    if (read === undefined) return this.#late;
    const waitMs = this.#options.clock.now() - read.since;
    return { waitMs, member: read.server.member, wait: this.#options.train.wait(read) };
  }

  #pass(inner: Gate): Promise<void> | undefined {
    if (this.#wait !== undefined) {
      if (!this.#isArriving && this.#read !== undefined)
        this.#begin(this.#newRead(this.#read.server, this.#read.since));
      this.#isArriving = false;
      return this.#wait.promise;
    }
    const { session, policy } = this.#options;
    if (this.#conversation?.activity() === undefined && policy() !== undefined) session.end('causal_reads_unreadable');
    const wait = inner();
    // More may have come until the other gate opens.
    if (wait !== undefined) this.#state = 'closed';
    return wait;
  }

  #newRead(server: AskedServer, since: Instant): TrainRead {
    const { session, newestQuestion } = this.#options;
    return {
      server,
      since,
      connected: this.#connected,
      arrived: newestQuestion(),
      onYes: (how) => asStepOf(session, () => this.#end(how, 'open')),
    };
  }

  /** In the place of the one before, behind which more bytes have come. */
  #begin(read: TrainRead): void {
    const { train } = this.#options;
    if (this.#read !== undefined) train.remove(this.#read);
    this.#read = read;
    train.add(read);
  }

  /** The bytes that wait come again, past the gate if it is open. */
  #end(result: CausalReadResult | undefined, state: State): void {
    const { train, counts, clock } = this.#options;
    const [read, wait, late] = [this.#read, this.#wait, this.#late];
    this.#cancelLimit();
    if (read !== undefined) train.remove(read);
    counts.ends(result, late?.waitMs ?? clock.now() - (read?.since ?? clock.now()));
    this.#read = undefined;
    this.#wait = undefined;
    this.#late = undefined;
    this.#state = state;
    wait?.resolve();
  }

  #tooLate(waitMs: number): void {
    const late = this.waiting();
    if (late === undefined || this.#read === undefined) return undefined;
    this.#options.train.remove(this.#read);
    this.#read = undefined;
    this.#state = 'late';
    this.#late = { ...late, waitMs };
    return this.#settle(this.#late);
  }

  /** An error, or a notice, stands behind the answers that are due. They also show whether a transaction is open. */
  #settle(late: LateRead): void {
    const { policy, clock } = this.#options;
    const conversation = this.#conversation;
    const follower = conversation?.follower();
    if (conversation === undefined || follower?.mayGoOn() !== true || !follower.isAtBoundaryToClient())
      return undefined;
    // They belong to a transaction that has begun.
    if (conversation.activity() !== 'idle') return this.#end('waited', 'open');
    if (policy()?.late !== 'stale') {
      const error = lateError(late);
      let hasRefused = false;
      // All that waits has waited as long.
      while (this.#relay?.cancelWaiting(error) === true) hasRefused = true;
      return this.#end(hasRefused ? 'error' : undefined, 'closed');
    }
    if (clock.now() >= this.#noticedAt + NOTICE_PAUSE_MS) {
      this.#noticedAt = clock.now();
      conversation.passToClient(staleNotice(late));
    }
    return this.#end('stale', 'open');
  }
}
