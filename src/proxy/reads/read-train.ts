// All causal reads of this process that wait, and the questions that they share: one to the primary for all who wait,
// one at a time, and one to each replica that has not shown enough. core/read-index.ts judges each answer.
import {
  isServer,
  judge,
  primaryServer,
  type NoYet,
  type PrimaryServer,
  type WaitingRead,
} from '../../core/read-index.ts';
import type { Snapshot } from '../../core/snapshot.ts';
import type { AskedServer, Positions, PrimaryWord, QuestionsPolicy, NoAnswer } from '../../model/causal-reads.ts';
import type { Clock, Instant } from '../../model/instant.ts';
import { addressText, type MemberName } from '../../model/member.ts';
import type { PoolPolicy } from '../../model/policy.ts';
import { TokenBucket } from '../token-bucket.ts';
import type { SharedWord } from './acknowledgements.ts';

export interface ReadTrainOptions {
  readonly positions: Positions;
  /** Its timers belong to no session. */
  readonly clock: Clock;
  /** Runs what must not belong to the session that asks. */
  readonly apart: (run: () => void) => void;
  readonly snapshot: () => Snapshot;
  readonly pools: () => readonly PoolPolicy[];
  readonly questions: () => QuestionsPolicy | undefined;
  /** How old the primary's own yes may be. Milliseconds. */
  readonly maxAgeMs: () => number;
}

/** A read that may have to wait. */
export interface ArrivedRead extends WaitingRead {
  /** All reads that must see the same have it. Absent: it is alone. */
  readonly shared?: SharedWord;
}

/** A read that waits, or may have to. */
export interface TrainRead extends ArrivedRead {
  readonly since: Instant;
  /** Its server shows all that it must see. Called once, when the read has left the train. */
  readonly onYes: (how: 'at_once' | 'waited') => void;
}

/** The state of a read in the train. */
interface Ticket {
  readonly shared: SharedWord;
  wasBehind: boolean;
}

/** Why a read still waits. */
export interface ReadWait {
  readonly why: NoYet;
  readonly primary: MemberName | undefined;
  /** The primary's word that counts for it. Undefined: there is none yet. */
  readonly word: Pick<PrimaryWord, 'timeline' | 'written'> | undefined;
  /** Bytes that its server has not replayed, as far as both have said. */
  readonly behindBytes: number | undefined;
  /** The servers that did not answer the newest question, with their words. */
  readonly unanswered: ReadonlyMap<MemberName, string>;
}

/** How long a server that did not answer is left alone. Milliseconds. */
const RETRY_MS = 50;
/** Between two questions to a replica that is behind: from the first, by half, to the last. Milliseconds. */
const FIRST_POLL_MS = 1;
const LAST_POLL_MS = 10;
/** A read that waits so long may wait for a flush that nobody does. Milliseconds. */
const NUDGE_AFTER_MS = 20;
const NUDGE_PAUSE_MS = 50;

/** The questions to one replica. */
interface Poll {
  isUnderWay: boolean;
  pauseMs: number;
}

export class ReadTrain {
  readonly #options: ReadTrainOptions;
  readonly #reads = new Map<TrainRead, Ticket>();
  /** The members that are asked as the primary, or are left alone. */
  readonly #asked = new Set<MemberName>();
  readonly #polls = new Map<string, Poll>();
  readonly #unanswered = new Map<MemberName, string>();
  #bucket: { readonly perSecond: number; readonly tokens: TokenBucket } | undefined;
  /** The primary's words of the last two questions differ: replicas are asked beside it. */
  #isWriting = false;
  #newest: PrimaryWord | undefined;
  #isLooking = false;
  #awaitsToken = false;
  /** Cancel functions of its timers. */
  readonly #timers = new Set<() => void>();
  #nudgedAt: Instant = -Infinity;

  constructor(options: ReadTrainOptions) {
    this.#options = options;
  }

  /** Nothing needs to be asked: the session is at the primary, or its server shows what the reads before have asked. */
  isFree(read: ArrivedRead): boolean {
    const proven = this.#proven();
    const word = this.#wordFor(read, read.shared ?? { word: undefined }, proven);
    return word !== undefined && this.#judged(read, word, proven).kind === 'yes';
  }

  /** It waits until `onYes`, or `remove`. */
  add(read: TrainRead): void {
    this.#options.apart(() => {
      this.#reads.set(read, { shared: read.shared ?? { word: undefined }, wasBehind: false });
      this.#advance([read]);
    });
  }

  remove(read: TrainRead): void {
    this.#reads.delete(read);
  }

  /** The read is in the train. */
  wait(read: TrainRead): ReadWait {
    const proven = this.#proven();
    const word = this.#reads.get(read)?.shared.word;
    const verdict = this.#judged(read, word, proven);
    const replayed = this.#options.positions.lastReplica(read.server)?.replayed;
    const isKnown = word !== undefined && replayed !== undefined;
    return {
      why: verdict.kind === 'yes' ? 'unasked' : verdict.why,
      primary: proven?.member,
      word,
      behindBytes: isKnown ? Math.max(0, word.written - replayed) : undefined,
      unanswered: this.#unanswered,
    };
  }

  /** Whether a session at the server would see what a read in the train must see. To be asked at a later time, too. */
  coversOf(read: TrainRead): (server: AskedServer) => boolean {
    const word = this.#reads.get(read)?.shared.word;
    return (server) => {
      const proven = this.#proven();
      if (proven !== undefined && isServer(server, proven)) return true;
      return word !== undefined && this.#judged({ ...read, server, connected: 0 }, word, proven).kind === 'yes';
    };
  }

  /** Another primary, or another timeline of a member, may be known. */
  tableChanged(): void {
    if (this.#reads.size > 0) this.#advance([...this.#reads.keys()]);
  }

  stop(): void {
    this.#reads.clear();
    for (const cancel of this.#timers) cancel();
    this.#timers.clear();
  }

  #proven(): PrimaryServer | undefined {
    const { pools, snapshot, clock, maxAgeMs } = this.#options;
    return primaryServer({ pools: pools(), snapshot: snapshot(), since: clock.now() - maxAgeMs() });
  }

  #judged(read: WaitingRead, word: PrimaryWord | undefined, proven: PrimaryServer | undefined) {
    const { positions, snapshot } = this.#options;
    const primary = word ?? (proven && positions.lastPrimary(proven));
    return judge(snapshot(), proven, read, { primary, replica: positions.lastReplica(read.server) });
  }

  /** Judges the reads. Those that go on wait for a question, or for another table. */
  #advance(reads: readonly TrainRead[]): void {
    const proven = this.#proven();
    let isPrimaryWanted = false;
    for (const read of reads) {
      const ticket = this.#reads.get(read);
      if (ticket === undefined) continue;
      const word = this.#wordFor(read, ticket.shared, proven);
      const verdict = this.#judged(read, word, proven);
      if (verdict.kind === 'yes') {
        this.#reads.delete(read);
        read.onYes(ticket.wasBehind ? 'waited' : 'at_once');
      } else if (verdict.why === 'behind' || (verdict.why === 'unasked' && word !== undefined)) {
        ticket.wasBehind ||= verdict.why === 'behind';
        this.#poll(read.server);
        this.#look();
      } else if (verdict.why === 'unasked') {
        isPrimaryWanted = true;
      }
    }
    if (isPrimaryWanted && proven !== undefined) this.#askPrimary(proven);
  }

  #wordFor(read: WaitingRead, shared: SharedWord, proven: PrimaryServer | undefined): PrimaryWord | undefined {
    const known = shared.word;
    if (proven === undefined) return undefined;
    const isAtPrimary = isServer(read.server, proven);
    const mustBeAfter = isAtPrimary ? read.connected : read.arrived;
    const isKnown = known !== undefined && isServer(known, proven) && known.timeline === proven.timeline;
    if (isKnown && known.question > mustBeAfter) return known;
    const newest = this.#options.positions.lastPrimary(proven);
    // A word of before the member's promotion is of no use: it is asked again. Its own word may be ahead of its report.
    const counts = newest !== undefined && newest.question > mustBeAfter && newest.timeline >= proven.timeline;
    const word = counts ? newest : undefined;
    // A read at the primary needs less than those that share the word.
    if (!isAtPrimary) shared.word = word;
    return word;
  }

  /** One question at a time; the reads that come meanwhile share the next. */
  #askPrimary(proven: PrimaryServer): void {
    const { positions, clock } = this.#options;
    if (this.#asked.has(proven.member) || this.#awaitsToken) return;
    const waitMs = this.#tokens().take(clock.now());
    if (waitMs > 0) {
      this.#awaitsToken = true;
      this.#after(waitMs, () => {
        this.#awaitsToken = false;
        this.tableChanged();
      });
      return;
    }
    this.#asked.add(proven.member);
    const answer = positions.askPrimary(proven);
    if (this.#isWriting) for (const { server } of this.#reads.keys()) if (!isServer(server, proven)) this.#poll(server);
    void answer.then((word) => this.#primaryAnswered(proven, word));
  }

  #primaryAnswered(proven: PrimaryServer, word: PrimaryWord | NoAnswer): void {
    const { member } = proven;
    if ('why' in word) return this.#leaveAlone(member, word.why, () => this.#asked.delete(member));
    this.#asked.delete(member);
    this.#unanswered.delete(member);
    const before = this.#newest;
    this.#newest = word;
    this.#isWriting = before !== undefined && before.written !== word.written;
    this.#nudge(before, word);
    // The others wait for their replica.
    const waits = (read: TrainRead, { shared }: Ticket): boolean =>
      shared.word === undefined || isServer(read.server, proven);
    return this.#advance([...this.#reads].flatMap(([read, ticket]) => (waits(read, ticket) ? [read] : [])));
  }

  #poll(server: AskedServer): void {
    const at = addressText(server.address);
    const poll = this.#polls.get(at) ?? { isUnderWay: false, pauseMs: FIRST_POLL_MS };
    if (poll.isUnderWay) return;
    this.#polls.set(at, poll);
    poll.isUnderWay = true;
    void this.#options.positions.askReplica(server).then((word) => {
      const isOver = (): void => {
        poll.isUnderWay = false;
      };
      if ('why' in word) return this.#leaveAlone(server.member, word.why, isOver);
      this.#unanswered.delete(server.member);
      this.#advance(this.#at(server));
      if (this.#at(server).length === 0) return void this.#polls.delete(at);
      this.#after(poll.pauseMs, () => {
        isOver();
        this.#advance(this.#at(server));
      });
      poll.pauseMs = Math.min(LAST_POLL_MS, poll.pauseMs * 1.5);
      return undefined;
    });
  }

  #leaveAlone(member: MemberName, why: string, isOver: () => void): void {
    this.#unanswered.set(member, why);
    this.#after(RETRY_MS, () => {
      isOver();
      this.tableChanged();
    });
  }

  #at(server: AskedServer): readonly TrainRead[] {
    return [...this.#reads.keys()].filter((read) => isServer(read.server, server));
  }

  /** Asks the primary once more while reads wait for a server that is behind: perhaps nobody flushes. */
  #look(): void {
    if (this.#isLooking) return;
    this.#isLooking = true;
    this.#after(NUDGE_AFTER_MS, () => {
      this.#isLooking = false;
      const proven = this.#proven();
      if (proven !== undefined && this.#unflushed() !== undefined) this.#askPrimary(proven);
      if (this.#reads.size > 0) this.#look();
    });
  }

  /** The oldest word of a read that has waited so long, and needs WAL that was not flushed when it was said. */
  #unflushed(): PrimaryWord | undefined {
    const before = this.#options.clock.now() - NUDGE_AFTER_MS;
    for (const [{ since }, { shared }] of this.#reads) {
      const { word } = shared;
      if (since <= before && word !== undefined && word.flushed < word.written) return word;
    }
    return undefined;
  }

  /** Where commits go on, they flush by themselves. */
  #nudge(before: PrimaryWord | undefined, now: PrimaryWord): void {
    const { positions, clock } = this.#options;
    const waiting = this.#unflushed();
    if (waiting === undefined || before === undefined || !isServer(before, now)) return;
    const isStuck = now.flushed < waiting.written && now.flushed === before.flushed;
    if (!isStuck || clock.now() < this.#nudgedAt + NUDGE_PAUSE_MS) return;
    this.#nudgedAt = clock.now();
    positions.nudge(now);
  }

  #after(ms: number, run: () => void): void {
    const cancel = this.#options.clock.schedule(ms, () => {
      this.#timers.delete(cancel);
      run();
    });
    this.#timers.add(cancel);
  }

  #tokens(): TokenBucket {
    const perSecond = this.#options.questions()?.perSecond ?? 1;
    if (this.#bucket?.perSecond !== perSecond) {
      this.#bucket = { perSecond, tokens: new TokenBucket(perSecond, this.#options.clock.now()) };
    }
    return this.#bucket.tokens;
  }
}
