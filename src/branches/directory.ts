// The directory of branches: reads the list from its source at a steady pace, keeps the last good list while the source
// is down, and answers where a target leads. A target that the list does not have causes a new read, one for all that
// wait. A target counts as unknown only by a list whose read began after the question: its branch may be new.
import { isDeepStrictEqual } from 'node:util';
import type {
  Branch,
  BranchAccess,
  BranchesPolicy,
  BranchListEvent,
  BranchListStatus,
  BranchLookup,
  BranchSourcePolicy,
} from '../model/branch.ts';
import type { Clock, Instant } from '../model/instant.ts';
import type { PoolName } from '../model/policy.ts';
import { atOnce, ENTRIES, inTurns } from './in-turns.ts';
import { listFailure, staticBranches } from './list-branches.ts';
import { indexBranches, indexing, slugOf, type BranchIndex } from './resolve.ts';

export interface BranchDirectoryOptions {
  readonly clock: Clock;
  /** From 0 up to, not including, 1. */
  readonly random: () => number;
  /**
   * Reads the list. Settles within its own deadline, and early when `signal` aborts. Rejects with a reason that holds
   * no secret. The source `static` is never read.
   */
  readonly fetchList: (source: BranchSourcePolicy, signal: AbortSignal) => Promise<readonly Branch[]>;
  /** The pool that clients reach by this target. */
  readonly poolOf: (target: string) => PoolName | undefined;
  readonly onEvent: (event: BranchListEvent) => void;
}

/** The shortest time between the beginnings of two reads. Milliseconds. */
const LEAST_INTERVAL_MS = 1000;
/**
 * A read for a target that the list does not have begins when no other such target has come for the first time, at the
 * latest after the second. So clients that come together share one read. Milliseconds.
 */
const GATHER_MS = 100;
const GATHER_MOST_MS = 500;
/** A part of the interval, in both directions. */
const JITTER = 0.1;

interface TargetQuestion {
  readonly target: string;
  readonly access: BranchAccess;
  readonly since: Instant;
  /** Counts reads: the first one that began after the question. */
  readonly firstRead: number;
  readonly answer: (lookup: BranchLookup) => void;
}

/** Branches whose target is that of a pool: by id, name and pool. */
type ShadowedNames = ReadonlyMap<string, BranchListEvent>;

interface PreparedIndex {
  readonly index: BranchIndex;
  readonly shadowed: ShadowedNames;
}

export class BranchDirectory {
  #index: BranchIndex | undefined;
  readonly #options: BranchDirectoryOptions;
  #policy: BranchesPolicy;
  /** When the read of the list in use began. */
  #readAt: Instant | undefined;
  #failing: BranchListStatus['failing'];
  readonly #questions = new Set<TargetQuestion>();
  #askedLastAt: Instant = -Infinity;
  /** The read under way. */
  #reading: AbortController | undefined;
  /** Reads that have begun. */
  #reads = 0;
  #startedAt: Instant = -Infinity;
  #endedAt: Instant = -Infinity;
  #isRunning = false;
  #cancelTimer: () => void = () => {};
  /** The next read that is due by the policy's pace. */
  #pollAt: Instant = -Infinity;
  #shadowed: ShadowedNames = new Map();

  constructor(policy: BranchesPolicy, options: BranchDirectoryOptions) {
    this.#options = options;
    this.#policy = policy;
    this.#takeStatic();
  }

  /** The list in use, for lookups without a read. Undefined: there is none yet. */
  index(): BranchIndex | undefined {
    return this.#index;
  }

  locate(target: string, access: BranchAccess): BranchLookup | Promise<BranchLookup> {
    const known = this.#index?.lookup(target, access);
    if (known !== undefined && (known.kind !== 'unknown' || this.#isStatic())) return known;
    if (!this.#isRunning) return unavailable('the list is not read now');
    const since = this.#options.clock.now();
    const failing = this.#failing;
    if (failing !== undefined && since - this.#endedAt < LEAST_INTERVAL_MS) return unavailable(failing.why);
    this.#askedLastAt = since;
    return new Promise((answer) => {
      this.#questions.add({ target, access, since, firstRead: this.#reads + 1, answer });
      this.#plan();
    });
  }

  status(): BranchListStatus {
    const isStatic = this.#isStatic();
    return {
      source: this.#policy.source.kind,
      branches: this.#index?.branches.length ?? 0,
      readAt: isStatic ? this.#options.clock.now() : this.#readAt,
      failing: this.#failing,
    };
  }

  /** Reads the list at once, then at the policy's pace. */
  start(): void {
    this.#isRunning = true;
    this.#tellShadowed();
    this.#plan();
  }

  /** Lookups that wait end as `unavailable`. */
  stop(): void {
    this.#isRunning = false;
    this.#cancelTimer();
    this.#reading?.abort();
    this.#reading = undefined;
    this.#answerAll(() => unavailable('the list is not read any more'));
  }

  /** The list stays, unless it comes from another source. */
  reconfigure(policy: BranchesPolicy): void {
    const isSameSource = isDeepStrictEqual(policy.source, this.#policy.source);
    this.#policy = policy;
    if (isSameSource) {
      if (this.#index !== undefined) this.#index = indexBranches(this.#index.branches, policy);
      this.#pollAt = Math.min(this.#pollAt, this.#startedAt + policy.refreshMs);
    } else {
      this.#reading?.abort();
      this.#reading = undefined;
      this.#index = undefined;
      this.#readAt = undefined;
      this.#failing = undefined;
      this.#startedAt = -Infinity;
      this.#pollAt = -Infinity;
      this.#takeStatic();
    }
    this.#tellShadowed();
    this.#answerKnown();
    this.#plan();
  }

  #isStatic(): boolean {
    return this.#policy.source.kind === 'static';
  }

  #takeStatic(): void {
    const { source } = this.#policy;
    if (source.kind === 'static') this.#index = indexBranches(staticBranches(source), this.#policy);
  }

  /** The timer of the next read: by the pace, or earlier for questions. */
  #plan(): void {
    this.#cancelTimer();
    if (!this.#isRunning || this.#isStatic() || this.#reading !== undefined) return;
    const now = this.#options.clock.now();
    const due = Math.max(Math.min(this.#pollAt, this.#askedAt()), this.#startedAt + LEAST_INTERVAL_MS);
    if (due <= now) this.#read();
    else this.#cancelTimer = this.#options.clock.schedule(due - now, () => this.#read());
  }

  /** Infinity: no question waits. */
  #askedAt(): Instant {
    // A Set keeps the order in which the questions came.
    const [first] = this.#questions;
    return first === undefined ? Infinity : Math.min(first.since + GATHER_MOST_MS, this.#askedLastAt + GATHER_MS);
  }

  #read(): void {
    const { clock, random, fetchList } = this.#options;
    const reading = new AbortController();
    this.#reading = reading;
    this.#reads += 1;
    this.#startedAt = clock.now();
    this.#pollAt = this.#startedAt + this.#policy.refreshMs * (1 - JITTER + 2 * JITTER * random());
    const end = (take: () => void): void => {
      // A read that was abandoned.
      if (this.#reading !== reading) return;
      this.#reading = undefined;
      this.#endedAt = clock.now();
      take();
      this.#plan();
    };
    fetchList(this.#policy.source, reading.signal)
      .then((list) => this.#prepare(list))
      .then(
        (prepared) => end(() => this.#succeeded(prepared)),
        (error: unknown) => end(() => this.#failed(error)),
      );
  }

  /** In turns: a long list would keep the sessions waiting. */
  async #prepare(list: readonly Branch[]): Promise<PreparedIndex> {
    for (;;) {
      const policy = this.#policy;
      const index = await inTurns(indexing(list, policy));
      const shadowed = await inTurns(this.#shadowedOf(index));
      // A reload came meanwhile.
      if (policy === this.#policy) return { index, shadowed };
    }
  }

  #succeeded({ index, shadowed }: PreparedIndex): void {
    const { onEvent } = this.#options;
    const failedForMs = this.#failing && this.#endedAt - this.#failing.since;
    this.#failing = undefined;
    this.#readAt = this.#startedAt;
    this.#index = index;
    const branches = index.branches.length;
    const durationMs = this.#endedAt - this.#startedAt;
    onEvent({ kind: 'branch_list_read', outcome: 'read', why: undefined, branches, durationMs });
    if (failedForMs !== undefined) onEvent({ kind: 'branch_list_recovered', branches, failedForMs });
    this.#tellShadowed(shadowed);
    this.#answerKnown();
    for (const question of this.#questions) {
      if (question.firstRead <= this.#reads) this.#answer(question, { kind: 'unknown' });
    }
  }

  /** The list stays. Clients may come again, so those that wait need no read of their own. */
  #failed(error: unknown): void {
    const { onEvent } = this.#options;
    const { failure, why } = listFailure(error);
    const isFirst = this.#failing === undefined;
    this.#failing = { failure, why, since: this.#failing?.since ?? this.#startedAt };
    const branches = this.#index?.branches.length ?? 0;
    const durationMs = this.#endedAt - this.#startedAt;
    onEvent({ kind: 'branch_list_read', outcome: failure, why, branches, durationMs });
    const ageMs = this.#readAt === undefined ? undefined : this.#endedAt - this.#readAt;
    if (isFirst) onEvent({ kind: 'branch_list_failed', failure, why, branches, ageMs });
    this.#answerAll(() => unavailable(why));
  }

  #tellShadowed(shadowed = atOnce(this.#shadowedOf(this.#index))): void {
    for (const [key, one] of shadowed) if (!this.#shadowed.has(key)) this.#options.onEvent(one);
    this.#shadowed = shadowed;
  }

  *#shadowedOf(index: BranchIndex | undefined): Generator<void, ShadowedNames> {
    const { poolOf } = this.#options;
    const shadowed = new Map<string, BranchListEvent>();
    for (const [at, { id, name }] of (index?.branches ?? []).entries()) {
      if (at % ENTRIES === 0) yield;
      const pool = poolOf(id) ?? poolOf(name) ?? poolOf(slugOf(name));
      if (pool === undefined) continue;
      shadowed.set(JSON.stringify([id, name, pool]), { kind: 'branch_shadowed', branch: { id, name }, pool });
    }
    return shadowed;
  }

  #answerKnown(): void {
    for (const question of this.#questions) {
      const lookup = this.#index?.lookup(question.target, question.access);
      if (lookup !== undefined && (lookup.kind !== 'unknown' || this.#isStatic())) this.#answer(question, lookup);
    }
  }

  #answerAll(lookupOf: () => BranchLookup): void {
    for (const question of this.#questions) this.#answer(question, lookupOf());
  }

  #answer(question: TargetQuestion, lookup: BranchLookup): void {
    this.#questions.delete(question);
    question.answer(lookup);
  }
}

function unavailable(why: string): BranchLookup {
  return { kind: 'unavailable', why };
}
