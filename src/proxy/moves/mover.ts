// Has parked sessions logged in at their next servers: those whose clients wait first, then those that were parked
// last, because their clients were busy. Limits how many logins are under way and how many begin in a second.
import type { Shown } from '../../core/caught-up.ts';
import { openRoute, includesTarget } from '../../core/routing-table.ts';
import type { Target } from '../../core/routing-table.ts';
import type { EvictionCause } from '../../model/close-reason.ts';
import type { Clock, Instant } from '../../model/instant.ts';
import { addressText } from '../../model/member.ts';
import type { MemberName } from '../../model/member.ts';
import type {
  CarriedState,
  MovesPolicy,
  PinReason,
  VerifierBatch,
  VerifierLookup,
  WalReport,
} from '../../model/moves.ts';
import type { PoolName, PoolPolicy } from '../../model/policy.ts';
import type { QuestionResult as QuestionEnd } from '../../reports/move-events.ts';
import type { Preflight } from '../../reports/preflight.ts';
import type { MoveResult } from '../../reports/session-move.ts';
import type { Login } from '../../wire/login-transcript.ts';
import { SessionQuestion } from '../../wire/session-question.ts';
import { ConnectAttempts } from '../connect/connect-attempts.ts';
import type { BackendConnector, ConnectRequest } from '../connect/connect-backend.ts';
import type { Dial } from '../connect/dial.ts';
import type { ProxyDependencies } from '../options.ts';
import type { RegisteredSession, SessionRegistry } from '../session-registry.ts';
import { TokenBucket } from '../token-bucket.ts';
import { ReadOrder } from './read-order.ts';
import { pinned } from './findings.ts';
import type { Journey, Movable, Traveller } from './movable.ts';
import { MoveQueue } from './move-queue.ts';
import { NamedSettings } from './named-settings.ts';
import { preflight } from './preflight.ts';
import { WithoutWarning } from './without-warning.ts';
import type { LossServices, WithoutWarningInputs } from './without-warning.ts';

/** The end of a move. */
interface Arrival {
  readonly to: MemberName;
  /** Of the connect. */
  readonly startedAt: Instant;
  /** Its client had sent something meanwhile. */
  readonly wasWaiting: boolean;
}

export interface MoverInputs extends Pick<
  ProxyDependencies,
  'clock' | 'onEvent' | 'onTrigger' | 'table' | 'decideIfDue' | 'openVerifiers' | 'freshen' | 'snapshot' | 'wal'
> {
  /** As it is now. Undefined: no session moves any more. */
  readonly policy: () => MovesPolicy | undefined;
  /** As it is now; as it was last if a reload removed it. */
  readonly pool: (name: PoolName) => PoolPolicy | undefined;
  readonly pools: () => readonly PoolPolicy[];
  readonly registry: SessionRegistry;
  readonly dial: Dial;
  readonly connector: BackendConnector;
  readonly connectAttempts: () => number;
}

/** After a reload without the section: sessions that are parked already still move. */
const NO_LONGER = { concurrent: 8, perSecond: 200 };

const nothing = (): void => {};

export class Mover {
  readonly clock: Clock;
  readonly reads: ReadOrder;
  readonly #inputs: MoverInputs;
  /** The parked sessions. */
  readonly #queues = new Map<PoolName, MoveQueue<Traveller>>();
  readonly #moving = new Set<Traveller>();
  readonly #named = new NamedSettings();
  /** By address. */
  readonly #batches = new Map<string, VerifierBatch>();
  #bucket: TokenBucket;
  #perSecond: number;
  #cancelPump = nothing;

  constructor(inputs: MoverInputs) {
    this.#inputs = inputs;
    this.clock = inputs.clock;
    this.reads = new ReadOrder(inputs);
    this.#perSecond = inputs.policy()?.perSecond ?? 1;
    this.#bucket = new TokenBucket(this.#perSecond, this.clock.now());
  }

  /** For an operator. Waits for the session's transaction to end, for as long as `moves.wait` allows. */
  move(session: Movable, from: MemberName | undefined): Promise<MoveResult> {
    const startedAt = this.clock.now();
    const waitMs = this.#inputs.policy()?.waitMs ?? 0;
    return new Promise((resolve) => {
      session.requestWhenIdle('operator', waitMs, (outcome) =>
        resolve({ ...outcome, from, durationMs: this.clock.now() - startedAt }),
      );
    });
  }

  /** Takes PREFLIGHT_MS at most. Moves nothing. */
  async preflight(sessions: readonly RegisteredSession[], member: MemberName): Promise<Preflight> {
    const startedAt = this.clock.now();
    const counted = await preflight(sessions, this.clock);
    const durationMs = this.clock.now() - startedAt;
    this.#inputs.onEvent({ kind: 'preflight_finished', member, ...counted, durationMs });
    return counted;
  }

  /** Logins begin, as far as routes are open. */
  tableChanged(): void {
    for (const queue of this.#queues.values()) queue.hurry();
    this.#pump();
  }

  stop(): void {
    this.#cancelPump();
    this.#endBatches();
  }

  // For its sessions alone.

  isRoleConfigured(role: string): boolean {
    return (this.#inputs.policy()?.roles ?? []).some((pattern) => matchesPattern(role, pattern));
  }

  /** The source of verifiers for the moves to a server, opened for the batch. */
  verifier(server: Target, role: string): Promise<VerifierLookup> {
    const { policy, openVerifiers } = this.#inputs;
    const source = policy()?.verifiers;
    if (source === undefined || openVerifiers === undefined) {
      return Promise.resolve({ kind: 'refused', why: '`moves.verifiers` is not configured' });
    }
    const name = addressText(server.address);
    const batch = this.#batches.get(name) ?? openVerifiers(source, server.address);
    this.#batches.set(name, batch);
    return batch.find(role);
  }

  canLogInAgain({ method }: Login): boolean {
    const { verifiers, md5 = false } = this.#inputs.policy() ?? {};
    if (method === 'scram_sha_256') return verifiers !== undefined;
    return method === 'trust' || (method === 'md5' && md5 && verifiers !== undefined);
  }

  /** `names`: of custom settings in the session's own statements. */
  question(serverMajor: number, pool: PoolName, database: string, names: readonly string[]): SessionQuestion {
    const { settings = [], maxStateBytes = 0 } = this.#inputs.policy() ?? {};
    const named = this.#named.of(database, this.clock.now());
    const customNames = [...new Set([...settings, ...names, ...(named ?? [])])];
    const asksNamedSettings = named === undefined;
    const asksWal = this.#isForReads(pool);
    return new SessionQuestion({ serverMajor, customNames, asksNamedSettings, maxStateBytes, asksWal });
  }

  answered(database: string, { namedSettings }: CarriedState): void {
    this.#named.learn(database, namedSettings, this.clock.now());
  }

  /** To be called synchronously with the answer of its server. A text: no other server can be compared with it. */
  shown(session: Traveller, wal: WalReport | undefined): Shown | string | undefined {
    const member = session.member();
    if (!this.#isForReads(session.pool)) return undefined;
    return member === undefined ? 'its server is not known' : this.reads.shown(member, wal);
  }

  pool(name: PoolName): PoolPolicy | undefined {
    return this.#inputs.pool(name);
  }

  /** Undefined: the session ends when its server is lost without warning. */
  beside(inputs: Omit<WithoutWarningInputs, keyof LossServices>): WithoutWarning | undefined {
    const { policy, wal, ...services } = this.#inputs;
    if (policy()?.mode !== 'always' || wal === undefined) return undefined;
    // A read session ends with its server, so nobody asks for its state in advance.
    const ask: typeof inputs.ask = (onAnswer) => {
      if (this.#isForReads(inputs.host.pool)) onAnswer(pinned('unknown_position'));
      else inputs.ask(onAnswer);
    };
    return new WithoutWarning({ ...services, wal, ...inputs, ask });
  }

  parkTimeoutMs(): number {
    return this.#inputs.policy()?.parkTimeoutMs ?? 0;
  }

  connect(
    request: Omit<ConnectRequest, 'attempts' | 'firstRequest' | 'parked' | 'onDeclined' | 'onClosed'>,
  ): () => void {
    const { connector, connectAttempts } = this.#inputs;
    return connector.connect({
      ...request,
      attempts: new ConnectAttempts(connectAttempts()),
      firstRequest: undefined,
      parked: undefined,
      // Without a first request neither can happen.
      onDeclined: ({ drop }) => drop(),
      onClosed: nothing,
    });
  }

  /** Synchronously with the use of the answer (G2, G3). */
  isOpen(pool: PoolName, target: Target): boolean {
    this.#inputs.decideIfDue();
    return includesTarget(openRoute(this.#inputs.table(), pool)?.targets ?? [], target);
  }

  asked({ id, pool }: Traveller, member: MemberName | undefined, result: QuestionEnd, startedAt: Instant): void {
    if (member === undefined) return;
    const durationMs = this.clock.now() - startedAt;
    this.#inputs.onEvent({ kind: 'session_asked', pool, session: id, member, result, durationMs });
  }

  stayed(session: Traveller, cause: EvictionCause, reason: PinReason, detail: string | undefined): void {
    const { id, pool } = session;
    const member = session.member();
    if (member === undefined) return;
    this.#inputs.onEvent({ kind: 'session_stayed', pool, session: id, member, cause, reason, detail });
  }

  parked(session: Traveller, { from, cause }: Journey): void {
    const { id, pool } = session;
    this.#inputs.onEvent({ kind: 'session_parked', pool, session: id, member: from, cause });
    this.queue(session, 0);
  }

  /** The parked session is to move, not before the pause is over. */
  queue(session: Traveller, pauseMs: number): void {
    this.#moving.delete(session);
    const queue = this.#queues.get(session.pool) ?? new MoveQueue<Traveller>();
    this.#queues.set(session.pool, queue);
    queue.add(session, this.clock.now() + pauseMs);
    this.#pump();
  }

  /** The client of a parked session has sent something. */
  waits(session: Traveller): void {
    this.#queues.get(session.pool)?.waits(session);
  }

  /** It is no longer parked. */
  left(session: Traveller): void {
    this.#queues.get(session.pool)?.remove(session);
  }

  moved(session: Traveller, journey: Journey, { to, startedAt, wasWaiting }: Arrival): void {
    const { id, pool } = session;
    const { from, cause, parkedAt } = journey;
    const now = this.clock.now();
    const gapMs = now - parkedAt;
    const loginMs = now - startedAt;
    this.#inputs.onEvent({ kind: 'session_moved', pool, session: id, from, to, cause, gapMs, loginMs, wasWaiting });
    this.#over(session);
  }

  /** The session ended while it was parked or moving. */
  ended(session: Traveller): void {
    this.#over(session);
  }

  turnedAway(member: MemberName): void {
    this.#inputs.onTrigger({ kind: 'backend_closed', member });
  }

  /** Its sessions must not go back in time: it has several members, with different amounts of the WAL. */
  #isForReads(pool: PoolName): boolean {
    return this.#inputs.pool(pool)?.exclusive !== true;
  }

  #over(session: Traveller): void {
    this.#moving.delete(session);
    if (this.#isIdle()) this.#endBatches();
    this.#pump();
  }

  #isIdle(): boolean {
    return this.#moving.size === 0 && [...this.#queues.values()].every((queue) => queue.isEmpty());
  }

  #endBatches(): void {
    for (const batch of this.#batches.values()) batch.end();
    this.#batches.clear();
  }

  readonly #pump = (): void => {
    this.#cancelPump();
    if (this.#queues.size === 0) return;
    const now = this.clock.now();
    const { concurrent, perSecond } = this.#inputs.policy() ?? NO_LONGER;
    if (perSecond !== this.#perSecond) this.#bucket = new TokenBucket((this.#perSecond = perSecond), now);
    for (const [pool, queue] of this.#queues) {
      // First, whatever else holds: a pause that is over must not be waited for again.
      while (queue.isReady(now) && this.#moving.size < concurrent && this.#isRouted(pool)) {
        const waitMs = this.#bucket.take(now);
        if (waitMs > 0) return this.#pumpAt(now + waitMs);
        const session = queue.take();
        if (session === undefined) break;
        this.#moving.add(session);
        session.travel();
      }
    }
    return this.#pumpAt(Math.min(...[...this.#queues.values()].map((queue) => queue.pausedUntil())));
  };

  #pumpAt(at: Instant): void {
    this.#cancelPump();
    if (at !== Infinity) this.#cancelPump = this.clock.schedule(Math.max(0, at - this.clock.now()), this.#pump);
  }

  #isRouted(pool: PoolName): boolean {
    const { decideIfDue, table, registry } = this.#inputs;
    decideIfDue();
    const route = openRoute(table(), pool);
    return route !== undefined && registry.limitReached(pool, route) === undefined;
  }
}

/** `*` stands for any characters. */
function matchesPattern(role: string, pattern: string): boolean {
  const parts = pattern.split('*').map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`));
  return new RegExp(`^${parts.join('.*')}$`, 's').test(role);
}
