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
  VerifierPolicy,
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
import { SharedValues } from '../shared-values.ts';
import { TokenBucket } from '../token-bucket.ts';
import type { MoveOrder } from './move-order.ts';
import { ReadOrder } from './read-order.ts';
import type { Journey, Movable, Traveller } from './movable.ts';
import { MoveQueue } from './move-queue.ts';
import { NamedSettings } from './named-settings.ts';
import { isNamed } from './role-patterns.ts';
import { preflight } from './preflight.ts';
import { waitsFor } from './waits-for.ts';
import type { WaitFacts } from './waits-for.ts';
import { WithoutWarning } from './without-warning.ts';
import { WriteOrder } from './write-order.ts';
import type { Losable, LosableInputs, LossServices } from './without-warning.ts';

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
  readonly #reads: ReadOrder;
  readonly #writes: WriteOrder;
  readonly #inputs: MoverInputs;
  /** Undefined: no WAL positions are known. */
  readonly #lossServices: LossServices | undefined;
  /** The parked sessions. */
  readonly #queues = new Map<PoolName, MoveQueue<Traveller>>();
  readonly #moving = new Set<Traveller>();
  readonly #named = new NamedSettings();
  readonly #packets = new SharedValues<Uint8Array>();
  readonly #told = new SharedValues<string>();
  /** By address. */
  readonly #batches = new Map<string, VerifierBatch>();
  /** As it was when a session was parked last: a reload may remove the section meanwhile. */
  #verifiers: VerifierPolicy | undefined;
  #bucket: TokenBucket;
  #perSecond: number;
  #cancelPump = nothing;

  constructor(inputs: MoverInputs) {
    this.#inputs = inputs;
    this.#lossServices = inputs.wal && { ...inputs, wal: inputs.wal };
    this.clock = inputs.clock;
    this.#reads = new ReadOrder(inputs);
    this.#writes = new WriteOrder(inputs.clock);
    this.#perSecond = inputs.policy()?.perSecond ?? 1;
    this.#bucket = new TokenBucket(this.#perSecond, this.clock.now());
  }

  /** For an operator. Waits for the session's transaction to end, for as long as `moves.wait` allows. */
  move(session: Movable, from: MemberName | undefined): Promise<MoveResult> {
    const startedAt = this.clock.now();
    const waitMs = this.#inputs.policy()?.waitMs ?? 0;
    return new Promise((resolve) => {
      session.requestWhenIdle('operator', waitMs, (outcome) => {
        if (outcome.kind !== 'parked') resolve({ ...outcome, from, durationMs: this.clock.now() - startedAt });
      });
    });
  }

  /** Takes PREFLIGHT_MS at most. Moves nothing. */
  preflight(sessions: readonly RegisteredSession[]): Promise<Preflight> {
    return preflight(sessions, this.clock);
  }

  /** Logins begin, as far as routes are open. */
  tableChanged(): void {
    this.#reads.learn();
    for (const queue of this.#queues.values()) queue.hurry();
    this.#pump();
  }

  stop(): void {
    this.#cancelPump();
    this.#endBatches();
  }

  // For its sessions alone.

  /** Sessions of one application have equal startup packets, so each keeps the same one. */
  sharedPacket(packet: Uint8Array): Uint8Array {
    return this.#packets.share(Buffer.from(packet).toString('latin1'), packet);
  }

  /** The parameters that a session was told, as one text: most sessions of an application are told the same. */
  readonly sharedTold = (told: string): string => this.#told.share(told, told);

  isRoleConfigured(role: string): boolean {
    return isNamed(role, this.#inputs.policy()?.roles ?? []);
  }

  /** The source of verifiers for the moves to a server, opened for the batch. */
  verifier(server: Target, role: string): Promise<VerifierLookup> {
    const { policy, openVerifiers } = this.#inputs;
    const current = policy();
    const source = current === undefined ? this.#verifiers : current.verifiers;
    if (source === undefined || openVerifiers === undefined) {
      return Promise.resolve({ kind: 'refused', why: '`moves.verifiers` is not configured' });
    }
    const name = addressText(server.address);
    const batch = this.#batches.get(name) ?? openVerifiers(source, server.address);
    this.#batches.set(name, batch);
    return batch.find(role).then((lookup) => (lookup.kind === 'found' ? lookup : named(lookup, server)));
  }

  canLogInAgain({ method }: Login): boolean {
    const { verifiers, md5 = false } = this.#inputs.policy() ?? {};
    if (method === 'scram_sha_256') return verifiers !== undefined;
    return method === 'trust' || (method === 'md5' && md5 && verifiers !== undefined);
  }

  /** `names`: of custom settings in the session's own statements. */
  question(serverMajor: number, database: string, names: readonly string[]): SessionQuestion {
    const { settings = [], maxStateBytes = 0 } = this.#inputs.policy() ?? {};
    const named = this.#named.of(database, this.clock.now());
    const customNames = [...new Set([...settings, ...names, ...(named ?? [])])];
    const asksNamedSettings = named === undefined;
    return new SessionQuestion({ serverMajor, customNames, asksNamedSettings, maxStateBytes });
  }

  answered(database: string, { namedSettings }: CarriedState): void {
    this.#named.learn(database, namedSettings, this.clock.now());
  }

  /** To be called synchronously with the answer of its server. A text: no other server can be compared with it. */
  shown(session: Traveller, wal: WalReport | undefined): Shown | string {
    const member = session.member();
    if (member === undefined) return 'its server is not known';
    return this.order(session.pool).shown(member, wal, session.address());
  }

  /** The rule for the next server of a session of the pool. */
  order(name: PoolName): MoveOrder {
    const pool = this.#inputs.pool(name);
    return pool?.exclusive === true && pool.check.family === 'primary' ? this.#writes : this.#reads;
  }

  pool(name: PoolName): PoolPolicy | undefined {
    return this.#inputs.pool(name);
  }

  /** Undefined: the session ends when its server is lost without warning. */
  beside(inputs: LosableInputs, session: Losable): WithoutWarning | undefined {
    if (this.#lossServices === undefined || this.#inputs.policy()?.mode !== 'always') return undefined;
    return new WithoutWarning(this.#lossServices, inputs, session);
  }

  parkTimeoutMs(): number {
    return this.#inputs.policy()?.parkTimeoutMs ?? 0;
  }

  connect(
    request: Omit<ConnectRequest, 'attempts' | 'firstRequest' | 'parked' | 'onDeclined' | 'onClosed'>,
  ): () => void {
    const { connector, connectAttempts } = this.#inputs;
    let isDialled = false;
    // Without a connection it was no login, and the next one in the queue may have its place.
    const giveBack = (): void => {
      if (!isDialled) this.#bucket.giveBack();
    };
    return connector.connect({
      ...request,
      onAssigned: (assignment) => {
        isDialled = true;
        request.onAssigned(assignment);
      },
      onRouteAgain: () => {
        giveBack();
        request.onRouteAgain();
      },
      onUnreachable: (pauseMs) => {
        giveBack();
        request.onUnreachable(pauseMs);
      },
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
    this.#verifiers = this.#inputs.policy()?.verifiers ?? this.#verifiers;
    this.queue(session, 0);
  }

  /** The parked session is to move, not before the pause is over. With a pause: its attempt has failed. */
  queue(session: Traveller, pauseMs: number): void {
    this.#moving.delete(session);
    const queue = this.#queues.get(session.pool) ?? new MoveQueue<Traveller>();
    this.#queues.set(session.pool, queue);
    queue.add(session, this.clock.now() + pauseMs, pauseMs > 0);
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

  /** Undefined: its turn has come. */
  waitsFor(session: Traveller, { from, shown }: Pick<WaitFacts, 'from' | 'shown'>): string | undefined {
    if (this.#moving.has(session)) return undefined;
    const { table, registry } = this.#inputs;
    const route = table().pools.get(session.pool)?.route;
    const limit = route?.kind === 'open' ? registry.limitReached(session.pool, route) : undefined;
    const place = this.#queues.get(session.pool)?.placeOf(session) ?? 'unsure';
    const order = this.order(session.pool);
    const seemsCaughtUp = order.seemsCaughtUp.bind(order);
    return waitsFor({ from, place, route, limit, shown, seemsCaughtUp });
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
    for (;;) {
      const ready = this.#readyPool(now);
      if (ready === undefined || this.#moving.size >= concurrent) break;
      const [pool, queue] = ready;
      const waitMs = this.#bucket.take(now);
      if (waitMs > 0) return this.#pumpAt(now + waitMs);
      const session = queue.take();
      if (session === undefined) break;
      // The pools take turns.
      this.#queues.delete(pool);
      this.#queues.set(pool, queue);
      this.#moving.add(session);
      session.travel();
    }
    return this.#pumpAt(Math.min(...[...this.#queues.values()].map((queue) => queue.pausedUntil())));
  };

  /** Of all of them the pauses are looked at: one that is over must not be waited for again. */
  #readyPool(now: Instant): readonly [PoolName, MoveQueue<Traveller>] | undefined {
    const ready = [...this.#queues].filter(([, queue]) => queue.isReady(now));
    return ready.find(([pool]) => this.#isRouted(pool));
  }

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

/** Clients read the reason, and addresses are not for them. */
function named<Lookup extends { readonly why: string }>(lookup: Lookup, { member, address }: Target): Lookup {
  const { host, port } = address;
  return { ...lookup, why: lookup.why.replaceAll(addressText(address), member).replaceAll(`${host}:${port}`, member) };
}
