// Everything that the sessions that move share: their turns, the connects to their next servers, the rule for these
// servers, the verifiers, the names to ask for, and the events.
import { coverageOf, type Coverage, type Loss } from '../../core/coverage.ts';
import { isOfPrimary } from '../../core/primary-pools.ts';
import { hasSameTargets, includesTarget, openRoute, type RoutingTable, type Target } from '../../core/routing-table.ts';
import type { WalEvidence } from '../../core/wal-samples.ts';
import type { Clock } from '../../model/instant.ts';
import type { MemberName } from '../../model/member.ts';
import type { MovesPolicy } from '../../model/moves.ts';
import { nothing } from '../../model/once.ts';
import type { PoolName, PoolPolicy } from '../../model/policy.ts';
import type { Preflight } from '../../reports/preflight.ts';
import type { MoveResult } from '../../reports/session-move.ts';
import type { SessionMemory } from '../../wire/follow/session-memory.ts';
import { SessionQuestion } from '../../wire/talk/session-question.ts';
import { ConnectAttempts } from '../connect/connect-attempts.ts';
import type { BackendConnector, ConnectRequest } from '../connect/connect-backend.ts';
import type { DialServer } from '../server.ts';
import type { ProxyDependencies } from '../options.ts';
import type { SessionRegistry } from '../session-registry.ts';
import { abortedTransaction } from '../messages/aborted-transaction.ts';
import type { Movable, Progress, SessionHandle } from '../stage.ts';
import { SharedValues } from '../shared-values.ts';
import type { Departure, TravelStep } from './departure.ts';
import type { FreshnessRule } from './freshness-rule.ts';
import type { InquiryServices } from './loss-inquiry.ts';
import { NamedByDatabase } from './named-settings.ts';
import { preflight } from './preflight.ts';
import { ReadFreshness } from './read-freshness.ts';
import { Turns, type Traveller } from './turns.ts';
import { Verifiers } from './verifiers.ts';
import { waitsFor } from './waits-for.ts';
import { WriteFreshness } from './write-freshness.ts';

export interface MoverOptions extends Pick<
  ProxyDependencies,
  'clock' | 'onEvent' | 'onTrigger' | 'table' | 'decideIfDue' | 'openVerifiers' | 'freshen' | 'snapshot' | 'wal'
> {
  /** As it is now. Undefined: no session moves any more. */
  readonly policy: () => MovesPolicy | undefined;
  /** As it is now; as it was last if a reload removed it. */
  readonly pool: (name: PoolName) => PoolPolicy | undefined;
  readonly pools: () => readonly PoolPolicy[];
  readonly registry: SessionRegistry;
  readonly dial: DialServer;
  readonly connector: BackendConnector;
  readonly connectAttempts: () => number;
}

/** A session between two servers. */
export interface Passenger extends Traveller {
  readonly step: TravelStep;
  readonly departure: Departure;
  /** Its route is another one: it waits for no pause. */
  retry(): void;
}

export class Mover {
  readonly clock: Clock;
  readonly turns: Turns;
  readonly verifiers: Verifiers;
  readonly inquiry: InquiryServices;
  readonly policy: MoverOptions['policy'];
  readonly pool: MoverOptions['pool'];
  readonly report: MoverOptions['onEvent'];
  readonly #reads: ReadFreshness;
  readonly #writes: WriteFreshness;
  readonly #options: MoverOptions;
  readonly named = new NamedByDatabase();
  readonly #told = new SharedValues<string>();
  readonly #states = new SharedValues<string>();
  /** All sessions between two servers. */
  readonly #travellers = new Set<Passenger>();
  /** The latest one. */
  #table: RoutingTable;

  constructor(options: MoverOptions) {
    this.#options = options;
    this.clock = options.clock;
    this.inquiry = options;
    this.policy = options.policy;
    this.pool = options.pool;
    this.report = options.onEvent;
    this.#table = options.table();
    this.#reads = new ReadFreshness(options);
    this.#writes = new WriteFreshness(options);
    this.turns = new Turns(options);
    this.verifiers = new Verifiers(options);
  }

  /** For an operator. Waits for the session's transaction to end, for as long as `moves.wait` allows. */
  move(session: Movable, from: MemberName | undefined, mayAbort: boolean): Promise<MoveResult> {
    const startedAt = this.clock.now();
    const waitMs = this.#options.policy()?.waitMs ?? 0;
    const error = mayAbort ? abortedTransaction('an operator moves the session') : undefined;
    return new Promise((resolve) => {
      const onProgress = (outcome: Progress): void => {
        if (outcome.kind !== 'parked') resolve({ ...outcome, from, durationMs: this.clock.now() - startedAt });
      };
      session.requestWhenIdle('operator', waitMs, onProgress, undefined, error);
    });
  }

  /** Takes PREFLIGHT_MS at most. Moves nothing. */
  preflight(sessions: readonly SessionHandle[]): Promise<Preflight> {
    return preflight(sessions, this.#options.policy()?.questions ?? 1, this.clock);
  }

  /**
   * Logins begin, as far as routes are open. Ends the pauses of the sessions whose route is another one: tables come
   * with each answer to a probe.
   */
  tableChanged(): void {
    this.#reads.learn();
    const before = this.#table;
    this.#table = this.#options.table();
    const isOther = (pool: PoolName): boolean => {
      const route = openRoute(this.#table, pool);
      return route !== undefined && !hasSameTargets(before.pools.get(pool)?.route, route);
    };
    const others = new Set(this.#options.pools().flatMap(({ name }) => (isOther(name) ? [name] : [])));
    for (const traveller of this.#travellers) if (others.has(traveller.pool)) traveller.retry();
    this.turns.pump();
  }

  stop(): void {
    this.turns.stop();
    this.verifiers.endBatches();
  }

  // For its sessions alone.

  /** The parameters that a session was told, as one text: most sessions of an application are told the same. */
  readonly sharedTold = (told: string): string => this.#told.of(told, () => told);

  /** The state of a session, as one text: it is the same for most sessions of an application. */
  sharedState(packed: string): string {
    return this.#states.of(packed, () => packed);
  }

  question(serverMajor: number, database: string, memory: SessionMemory): SessionQuestion {
    const { settings = [], maxStateBytes = 0 } = this.#options.policy() ?? {};
    const customNames = [...settings, ...memory.names()];
    const unnamedText = memory.unnamedText();
    return new SessionQuestion({
      serverMajor,
      customNames,
      named: this.named.of(database),
      unnamedText,
      maxStateBytes,
    });
  }

  /** The rule for the next server of a session of the pool. */
  freshness(name: PoolName): FreshnessRule {
    const pool = this.#options.pool(name);
    return pool !== undefined && isOfPrimary(pool) ? this.#writes : this.#reads;
  }

  /** Undefined: a session ends when its server is lost without warning. */
  lossEvidence(): (() => WalEvidence) | undefined {
    return this.#options.policy()?.mode === 'always' ? this.#options.wal : undefined;
  }

  /** Whether the member has all that a session was told before it lost its server. */
  coverageAt(member: MemberName, loss: Loss): Coverage | undefined {
    const known = this.#options.wal?.();
    return known && coverageOf(loss, { member, sample: known.samples.get(member)?.[0] }, known.ends);
  }

  connect(
    request: Omit<ConnectRequest, 'attempts' | 'firstRequest' | 'parked' | 'onDeclined' | 'onClosed'>,
  ): () => void {
    const { connector, connectAttempts } = this.#options;
    let isDialled = false;
    const returnToken = (): void => {
      if (!isDialled) this.turns.returnToken();
    };
    return connector.connect({
      ...request,
      onAssigned: (assignment) => {
        isDialled = true;
        request.onAssigned(assignment);
      },
      onRouteAgain: () => {
        returnToken();
        request.onRouteAgain();
      },
      onUnreachable: (pauseMs) => {
        returnToken();
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
    this.#options.decideIfDue();
    return includesTarget(openRoute(this.#options.table(), pool)?.targets ?? [], target);
  }

  /** Undefined: it is moving. */
  waitsFor({ step, pool, departure }: Passenger): string | undefined {
    if (step !== 'unsure' && step !== 'owing' && step !== 'queued' && step !== 'paused') return undefined;
    const { table, registry } = this.#options;
    const { from, shown } = departure;
    const route = table().pools.get(pool)?.route;
    const limit = route?.kind === 'open' ? registry.limitReached(pool, route) : undefined;
    const rule = this.freshness(pool);
    return waitsFor({ from, step, route, limit, shown, seemsCaughtUp: rule.seemsCaughtUp.bind(rule) });
  }

  /** It waits for its turn from now on. */
  departs(traveller: Passenger): void {
    this.#travellers.add(traveller);
    this.verifiers.keep();
  }

  /** It has moved, or has ended. */
  arrived(traveller: Passenger): void {
    this.#travellers.delete(traveller);
    this.turns.over(traveller);
    if (this.#travellers.size === 0) this.verifiers.endBatches();
    this.turns.pump();
  }

  turnedAway(member: MemberName): void {
    this.#options.onTrigger({ kind: 'backend_closed', member });
  }
}
