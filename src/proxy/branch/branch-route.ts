// The way of one client to the backend of its branch: it looks the branch up, connects, and tries again while the
// branch wakes up, until its budget is used up. Each attempt looks the branch up again: it may have another backend by
// now, or be gone. The client waits in state `holding` for the list and between attempts, and in `dialing` during one.
import type { ProxySocket } from '../socket.ts';
import { BRANCHES_POOL, type BranchAccess, type BranchConnectPolicy } from '../../model/branch.ts';
import type { BranchIdentity, BranchLookup, LocateBranch } from '../../model/branch.ts';
import { durationText } from '../../core/describe.ts';
import type { RefusalReason } from '../../model/close-reason.ts';
import type { Instant } from '../../model/instant.ts';
import { addressText } from '../../model/member.ts';
import { nothing } from '../../model/once.ts';
import { shown } from '../../model/printable.ts';
import type { BranchDialOutcome, BranchWaitOutcome } from '../../reports/branch-events.ts';
import type { BranchRouting, ProxyDependencies } from '../options.ts';
import type { BranchServer, DialServer } from '../server.ts';
import type { FirstReply } from '../connect/first-reply.ts';
import type { FirstRequest } from '../startup/client-startup.ts';
import { reachBackend } from './reach-backend.ts';

/** One client that needs the backend of a branch, and how it hears of the outcome. */
export interface BranchRequest {
  readonly session: number;
  readonly startup: { startupRequest(): FirstRequest };
  /** As the client sent it. */
  readonly target: string;
  readonly access: BranchAccess;
  /** DETAIL if there is no such branch. */
  readonly unknown: string;
  /** The client enters the state. `leave` is called once, when it leaves it. False: it is gone. */
  readonly enter: (step: 'hold' | 'dial', leave: () => void) => boolean;
  /** The target is this branch. */
  readonly onFound: (branch: BranchIdentity) => void;
  readonly onConnected: (server: BranchServer, backend: ProxySocket, reply: FirstReply) => void;
  readonly onRefused: (reason: RefusalReason, detail?: string) => void;
}

interface BranchServices extends Pick<ProxyDependencies, 'clock' | 'onEvent'> {
  readonly dial: DialServer;
  readonly isStopping: () => boolean;
}

export interface BranchConnectorOptions extends BranchServices, Pick<ProxyDependencies, 'locateBranch'> {
  readonly routing: () => BranchRouting | undefined;
}

interface BranchRouteOptions extends BranchServices, BranchRequest {
  readonly limits: BranchConnectPolicy;
  readonly locate: LocateBranch;
}

const NOT_CONFIGURED: LocateBranch = () => ({ kind: 'unknown' });

/**
 * Finds the backend of the branch for each client whose target is one. The client hears of the outcome, possibly at
 * once. It leaves by leaving its state. No branch has a connection without a client.
 */
export function branchConnector({
  locateBranch = NOT_CONFIGURED,
  routing,
  ...services
}: BranchConnectorOptions): (request: BranchRequest) => void {
  return (request) => {
    const limits = routing()?.connect;
    if (limits === undefined) return request.onRefused('unknown_branch', request.unknown);
    return new BranchRoute({ ...services, ...request, locate: locateBranch, limits }).locate();
  };
}

/** The pause after a failed attempt; it doubles up to the longest. Milliseconds. */
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 5_000;
/** Ids in one DETAIL. */
const MOST_IDS = 10;

class BranchRoute {
  readonly #options: BranchRouteOptions;
  #step: 'hold' | 'dial' | undefined;
  /** Ends what is under way. */
  #abort = nothing;
  /** From one state of this route to its next one. */
  #isMoving = false;
  #hasReported = false;
  #server: BranchServer | undefined;
  #firstAttemptAt: Instant | undefined;
  #attempts = 0;
  #pauseMs = FIRST_PAUSE_MS;

  constructor(options: BranchRouteOptions) {
    this.#options = options;
  }

  locate(): void {
    const { locate, target, access, clock, isStopping, limits } = this.#options;
    if (isStopping()) return this.#refuse('shutdown');
    const startedAt = clock.now();
    const lookup = locate(target, access);
    if (!(lookup instanceof Promise)) return this.#located(lookup, startedAt);
    let isOver = false;
    const settle = (result: BranchLookup): void => {
      if (isOver) return;
      cancel();
      this.#located(result, startedAt);
    };
    const late = `no list within ${durationText(limits.budgetMs)}`;
    const cancelLimit = clock.schedule(this.#leftMs(), () => settle({ kind: 'unavailable', why: late }));
    const cancel = (): void => {
      isOver = true;
      cancelLimit();
    };
    this.#enter('hold', cancel);
    void lookup.then(settle);
    return undefined;
  }

  #located(lookup: BranchLookup, startedAt: Instant): void {
    const { session, target, onFound, onEvent, clock, unknown, isStopping } = this.#options;
    if (this.#attempts === 0) {
      const facts = { session, target: shown(target), result: lookup.kind, durationMs: clock.now() - startedAt };
      onEvent({ kind: 'branch_located', pool: BRANCHES_POOL, ...facts });
    }
    if ('branch' in lookup) onFound(identityOf(lookup.branch));
    if (isStopping()) return this.#refuse('shutdown');
    switch (lookup.kind) {
      case 'found': {
        const { address, tls } = lookup.backend;
        return this.#dial({ branch: identityOf(lookup.branch), address, tls });
      }
      case 'unknown':
        return this.#refuse('unknown_branch', unknown);
      case 'not_allowed':
        return this.#refuse('branch_not_allowed', describeExcluded(lookup.why));
      case 'ambiguous':
        return this.#refuse('ambiguous_branch', describeAmbiguous(lookup.ids));
      case 'no_backend':
        return this.#refuse('branch_unreachable', shown(lookup.why));
      case 'unavailable':
        return this.#refuse('branches_unavailable', shown(lookup.why));
    }
  }

  #dial(server: BranchServer): void {
    const { onConnected, startup, clock, dial, limits } = this.#options;
    const startedAt = clock.now();
    this.#server = server;
    this.#firstAttemptAt ??= startedAt;
    let abort = nothing;
    if (!this.#enter('dial', () => abort())) return;
    this.#attempts += 1;
    abort = reachBackend({
      server,
      dial,
      clock,
      timeoutMs: Math.min(limits.attemptTimeoutMs, this.#leftMs()),
      request: startup.startupRequest(),
      onReached: (backend, reply) => {
        this.#reportAttempt(server, 'connected', startedAt);
        this.#reportWait('connected');
        onConnected(server, backend, reply);
      },
      onFailed: ({ outcome, detail, isLasting }) => {
        this.#reportAttempt(server, outcome, startedAt);
        if (isLasting === true) this.#refuse('branch_unreachable', detail);
        else this.#pause(detail);
      },
    });
  }

  #pause(failure: string): void {
    const { clock, isStopping } = this.#options;
    if (isStopping()) return this.#refuse('shutdown');
    const leftMs = this.#leftMs();
    const pauseMs = Math.min(this.#pauseMs, leftMs);
    this.#pauseMs = Math.min(2 * this.#pauseMs, LONGEST_PAUSE_MS);
    if (leftMs <= 0) return this.#giveUp(failure);
    const again = (): void => (this.#leftMs() > 0 ? this.locate() : this.#giveUp(failure));
    this.#enter('hold', clock.schedule(pauseMs, again));
    return undefined;
  }

  #giveUp(failure: string): void {
    const attempts = this.#attempts === 1 ? '1 attempt' : `${this.#attempts} attempts`;
    this.#refuse('branch_unreachable', `${failure}; ${attempts} in ${durationText(this.#options.limits.budgetMs)}`);
  }

  #refuse(reason: RefusalReason, detail?: string): void {
    this.#reportWait(reason === 'branch_unreachable' ? 'unreachable' : 'gave_up');
    this.#options.onRefused(reason, detail);
  }

  /** A client that waits already goes on waiting, for something else. */
  #enter(step: 'hold' | 'dial', abort: () => void): boolean {
    if (step !== 'hold' || this.#step !== 'hold') {
      this.#isMoving = true;
      const hasEntered = this.#options.enter(step, () => this.#left());
      this.#isMoving = false;
      if (!hasEntered) {
        abort();
        return false;
      }
    }
    this.#step = step;
    this.#abort = abort;
    return true;
  }

  #left(): void {
    const abort = this.#abort;
    this.#abort = nothing;
    abort();
    if (!this.#isMoving) this.#reportWait('gave_up');
  }

  #leftMs(): number {
    const { clock, limits } = this.#options;
    const usedMs = this.#firstAttemptAt === undefined ? 0 : clock.now() - this.#firstAttemptAt;
    return Math.max(0, limits.budgetMs - usedMs);
  }

  #reportAttempt({ branch, address }: BranchServer, outcome: BranchDialOutcome, startedAt: Instant): void {
    const { session, clock, onEvent } = this.#options;
    onEvent({
      kind: 'branch_dial_finished',
      pool: BRANCHES_POOL,
      session,
      branch,
      backend: addressText(address),
      outcome,
      durationMs: clock.now() - startedAt,
    });
  }

  /** Once, for a client that has tried to connect. */
  #reportWait(outcome: BranchWaitOutcome): void {
    const { session, clock, onEvent } = this.#options;
    if (this.#hasReported || this.#server === undefined || this.#firstAttemptAt === undefined) return;
    this.#hasReported = true;
    onEvent({
      kind: 'branch_wait_ended',
      pool: BRANCHES_POOL,
      session,
      branch: this.#server.branch,
      outcome,
      attempts: this.#attempts,
      waitedMs: clock.now() - this.#firstAttemptAt,
    });
  }
}

function identityOf({ id, name }: BranchIdentity): BranchIdentity {
  return { id: shown(id), name: shown(name) };
}

// The DETAIL of a client whose target leads nowhere. No text names a branch that the client did not name, except the
// ids of an ambiguous name.

function describeExcluded(why: Extract<BranchLookup, { kind: 'not_allowed' }>['why']): string {
  return why === 'root'
    ? 'it is a root branch, and branches.allow does not name it'
    : 'branches.allow excludes its name';
}

function describeAmbiguous(ids: readonly string[]): string {
  const others = ids.length - MOST_IDS;
  const named = ids.slice(0, MOST_IDS).map((id) => shown(id));
  return `ids: ${named.join(', ')}${others > 0 ? ` and ${others} others` : ''}`;
}
