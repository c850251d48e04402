// Holds back the transactions of one session until its server shows every commit that was acknowledged before they
// arrived. It comes before all other gates. A late read ends by the pool's `causal_reads.late`.
import type { AskedServer, CausalReadsPolicy, QuestionNumber } from '../../model/causal-reads.ts';
import type { Clock, Instant } from '../../model/instant.ts';
import { pinText } from '../../core/pin-words.ts';
import type { PinReason } from '../../model/moves.ts';
import { nothing } from '../../model/once.ts';
import { isLateResult, type CausalReadResult } from '../../reports/causal-reads.ts';
import type { ShownReadWait } from '../../reports/session-list.ts';
import { asStepOf } from '../fault.ts';
import type { Conversation, TransactionGate } from '../relay/conversation.ts';
import type { Relay } from '../relay/relay.ts';
import type { ClientGate } from '../relay/stall-gate.ts';
import type { Server } from '../server.ts';
import type { SessionControl } from '../stage.ts';
import type { ReadDemand } from './acknowledgements.ts';
import type { Detours } from './detours.ts';
import { lateError, shownWait, staleNotice, whyLate, type LateRead } from './late-read.ts';
import type { ReadCounts } from './read-counts.ts';
import type { ReadTrain, TrainRead } from './read-train.ts';

export interface ReadGateOptions {
  readonly session: SessionControl;
  readonly train: ReadTrain;
  readonly clock: Clock;
  readonly newestQuestion: () => QuestionNumber;
  /** The demand of a read that arrives now, with the scope `proxy`. Undefined: nobody can tell. */
  readonly acknowledged: () => ReadDemand | undefined;
  /** As it is now. Undefined: a reload has removed it. */
  readonly policy: () => CausalReadsPolicy | undefined;
  /** How long clients wait for a primary. Milliseconds. */
  readonly holdMs: () => number;
  readonly counts: ReadCounts;
  readonly detours: Detours;
  /** `on_leave.fallback_over` of the pool is `keep`. */
  readonly keepsDetour: () => boolean;
}

/** A late read, and the servers that show what it must see. */
interface LateServer extends LateRead {
  readonly read: TrainRead;
  readonly covers: (server: AskedServer) => boolean;
}

/** A session is told this often that it reads without the guarantee. Milliseconds. */
const NOTICE_PAUSE_MS = 60_000;

/** A session that has moved to the primary stays there so long. Milliseconds. */
const DETOUR_MS = 10_000;

/** A move that failed for a reason of the moment is tried again after this time. Milliseconds. */
const RETRY_MS = 250;
/** While a primary is replaced, its members have not said yet what can be compared. */
const OF_THE_MOMENT = new Set<PinReason>(['unknown_position', 'question_failed', 'busy']);

export class ReadGate implements TransactionGate {
  readonly #options: ReadGateOptions;
  #conversation: Conversation | undefined;
  #relay: Relay | undefined;
  /** Undefined: it is no member, or there is none. */
  #server: AskedServer | undefined;
  #connected: QuestionNumber = 0;
  /** The bytes that have come may pass. */
  #isOpen = false;
  /** Its bytes are just on their way to those that wait. */
  #isArriving = false;
  #read: TrainRead | undefined;
  #wait: PromiseWithResolvers<void> | undefined;
  #late: LateServer | undefined;
  /** It has asked to move. */
  #isMoving = false;
  /** When it left a server that was late. Undefined: it has not, or has come back. */
  #detourSince: Instant | undefined;
  #cancelLimit = nothing;
  #noticedAt: Instant = -Infinity;

  constructor(options: ReadGateOptions) {
    this.#options = options;
  }

  /** To be called before the first byte. */
  reads(conversation: Conversation): void {
    this.#conversation = conversation;
  }

  startsAt(server: Server, inner: ClientGate): ClientGate {
    this.#server = 'member' in server ? server : undefined;
    this.#connected = this.#options.newestQuestion();
    return () => this.#pass(inner);
  }

  relaysBy(relay: Relay): void {
    this.#relay = relay;
  }

  leaves(): void {
    this.#relay = undefined;
    // A session that goes back to its members is not late.
    const isLate = this.#isMoving && this.#late !== undefined;
    if (this.#wait !== undefined) this.#end(isLate ? 'moved' : undefined, false);
  }

  takesPass(): boolean {
    const isOpen = this.#isOpen || this.#server === undefined || this.#options.policy() === undefined;
    this.#isOpen = false;
    return isOpen;
  }

  holds(): void {
    const { policy, train, clock, counts } = this.#options;
    const server = this.#server;
    const causalReads = policy();
    if (server === undefined || causalReads === undefined) return;
    const read = this.#newRead(server, clock.now());
    const isFree = train.isFree(read);
    if (isFree && !this.#isDetourOver()) {
      this.#isOpen = true;
      return counts.isFree();
    }
    counts.begins();
    this.#isArriving = true;
    this.#wait = Promise.withResolvers<void>();
    if (isFree) return this.#goBack();
    this.#cancelLimit = clock.schedule(causalReads.waitMs, () => this.#tooLate(causalReads.waitMs));
    this.#begin(read);
    return undefined;
  }

  cancelled(): void {
    if (this.#wait !== undefined) this.#end('cancelled', false);
  }

  passedToClient(): void {
    if (this.#late !== undefined) this.#settle(this.#late);
  }

  waiting(): ShownReadWait | undefined {
    const read = this.#read;
    if (read !== undefined) return shownWait(this.#waitOf(read), false);
    return this.#late && shownWait(this.#late, true);
  }

  #waitOf(read: TrainRead): LateRead {
    const { clock, train, policy } = this.#options;
    const { since, server } = read;
    return {
      scope: policy()?.scope ?? 'cluster',
      since,
      waitMs: clock.now() - since,
      member: server.member,
      wait: train.wait(read),
    };
  }

  #pass(inner: ClientGate): Promise<void> | undefined {
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
    if (wait !== undefined) this.#isOpen = false;
    return wait;
  }

  #newRead(server: AskedServer, since: Instant): TrainRead {
    const { session, policy, newestQuestion, acknowledged } = this.#options;
    const demand = policy()?.scope === 'proxy' ? acknowledged() : undefined;
    return {
      server,
      since,
      connected: this.#connected,
      ...(demand ?? { arrived: newestQuestion() }),
      onYes: (how) => asStepOf(session, () => this.#end(how, true)),
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
  #end(result: CausalReadResult | undefined, isOpen: boolean): void {
    const { train, counts, clock } = this.#options;
    const [read, wait, late] = [this.#read, this.#wait, this.#late];
    this.#cancelLimit();
    if (read !== undefined) train.remove(read);
    if (!isLateResult(result)) counts.ends(result, late?.waitMs ?? clock.now() - (read?.since ?? clock.now()));
    else if (late !== undefined) counts.endsLate({ result, member: late.member, why: whyLate(late) }, late.waitMs);
    this.#read = undefined;
    this.#wait = undefined;
    this.#late = undefined;
    this.#isMoving = false;
    this.#isOpen = isOpen;
    wait?.resolve();
  }

  /** `waitedMs`: so far. */
  #tooLate(waitedMs: number): void {
    const { train, clock, policy, holdMs } = this.#options;
    if (this.#read === undefined) return undefined;
    const late = this.#waitOf(this.#read);
    if (waitedMs < holdMs() && this.#waitsForPrimary(late)) {
      const moreMs = Math.min(policy()?.waitMs ?? 0, holdMs() - waitedMs);
      this.#cancelLimit = clock.schedule(moreMs, () => this.#tooLate(waitedMs + moreMs));
      return undefined;
    }
    const read = this.#read;
    const covers = train.coversOf(read);
    train.remove(read);
    this.#read = undefined;
    this.#late = { ...late, waitMs: waitedMs, read, covers };
    return this.#settle(this.#late);
  }

  /**
   * As clients do that are held: there is no primary to move to, or its history cannot be compared yet, or the session
   * is there and its first answer has not come.
   */
  #waitsForPrimary({ member, wait: { why, primary } }: LateRead): boolean {
    const { session, policy, detours } = this.#options;
    if (policy()?.late !== 'primary') return false;
    if (member === primary && why === 'unasked') return true;
    return why === 'primary_unproven' || why === 'timeline_unknown' || !detours.hasPrimary(session.pool);
  }

  /** An error, or a notice, stands behind the answers that are due. They also show whether a transaction is open. */
  #settle(late: LateServer): void {
    const { policy, clock } = this.#options;
    const conversation = this.#conversation;
    const follower = conversation?.follower();
    if (conversation === undefined || this.#isMoving) return undefined;
    if (follower?.mayGoOn() !== true || !follower.isAtBoundaryToClient()) return undefined;
    // They belong to a transaction that has begun.
    if (conversation.activity() !== 'idle') return this.#end('waited', true);
    const mode = policy()?.late;
    if (mode === 'primary') return this.#takeDetour(late);
    if (mode !== 'stale') return this.#refuse(late);
    if (clock.now() >= this.#noticedAt + NOTICE_PAUSE_MS) {
      this.#noticedAt = clock.now();
      conversation.passToClient(staleNotice(late));
    }
    return this.#end('stale', true);
  }

  /** All that waits has waited as long. `whyHere`: why no other server takes the session. */
  #refuse(late: LateRead, whyHere?: string): void {
    const error = lateError(late, whyHere);
    let hasRefused = false;
    while (this.#relay?.cancelWaiting(error) === true) hasRefused = true;
    this.#end(hasRefused ? 'error' : undefined, false);
  }

  /** The bytes that wait come again at the next server. */
  #takeDetour(late: LateServer): void {
    const { session, detours, clock, holdMs } = this.#options;
    const { movable } = session;
    if (movable === undefined) return this.#refuse(late, 'The session cannot move.');
    const goal = this.#server && detours.goal(session.pool, this.#server, late.covers);
    if (typeof goal !== 'object') return this.#refuse(late, goal);
    this.#isMoving = true;
    this.#detourSince = clock.now();
    return movable.request(
      'lagging',
      (progress) => {
        if (progress.kind !== 'stayed' || this.#late !== late) return;
        if (OF_THE_MOMENT.has(progress.reason) && late.waitMs < holdMs()) this.#waitOn(late);
        else this.#refuse(late, `The session could not move, because it ${pinText(progress.reason, progress.detail)}.`);
      },
      goal,
    );
  }

  #waitOn({ read, waitMs }: LateServer): void {
    const { clock, holdMs } = this.#options;
    this.#late = undefined;
    this.#isMoving = false;
    this.#detourSince = undefined;
    const moreMs = Math.min(RETRY_MS, holdMs() - waitMs);
    this.#cancelLimit = clock.schedule(moreMs, () => this.#tooLate(waitMs + moreMs));
    this.#begin(read);
  }

  /** It is at the primary only because its server was late. */
  #isDetourOver(): boolean {
    const { session, detours, clock, keepsDetour } = this.#options;
    const since = this.#detourSince;
    if (since === undefined || clock.now() < since + DETOUR_MS || session.assignment()?.isFallback !== true)
      return false;
    return session.movable !== undefined && !keepsDetour() && detours.hasOwnMembers(session.pool);
  }

  #goBack(): void {
    const { session, clock } = this.#options;
    const wait = this.#wait;
    // A session that cannot move is not asked at each read.
    this.#detourSince = clock.now();
    session.movable?.request('fallback_over', ({ kind }) => {
      if (kind === 'stayed' && this.#wait === wait) this.#end('free', true);
    });
  }
}
