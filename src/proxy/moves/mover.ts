// Everything that the sessions that move share: their turns, the connects to their next servers, the rule for these
// servers, the verifiers, the names to ask for, and the events.
import type { Shown } from '../../core/caught-up.ts';
import { isOfPrimary } from '../../core/primary-pools.ts';
import { openRoute, includesTarget } from '../../core/routing-table.ts';
import type { Target } from '../../core/routing-table.ts';
import type { EvictionCause } from '../../model/close-reason.ts';
import type { Clock, Instant } from '../../model/instant.ts';
import type { MemberName } from '../../model/member.ts';
import type { CarriedState, MovesPolicy, PinReason, WalReport } from '../../model/moves.ts';
import type { PoolName, PoolPolicy } from '../../model/policy.ts';
import { matchesWildcard } from '../../model/wildcard.ts';
import type { QuestionResult as QuestionEnd } from '../../reports/move-events.ts';
import type { Preflight } from '../../reports/preflight.ts';
import type { MoveResult } from '../../reports/session-move.ts';
import type { SessionMemory } from '../../wire/follow/session-memory.ts';
import { SessionQuestion } from '../../wire/talk/session-question.ts';
import { ConnectAttempts } from '../connect/connect-attempts.ts';
import type { BackendConnector, ConnectRequest } from '../connect/connect-backend.ts';
import type { Dial } from '../connect/dial.ts';
import type { ProxyDependencies } from '../options.ts';
import type { SessionRegistry } from '../session-registry.ts';
import type { SessionHandle } from '../stage.ts';
import { SharedValues } from '../shared-values.ts';
import type { MoveOrder } from './move-order.ts';
import { ReadOrder } from './read-order.ts';
import type { Asked, Journey } from './movable.ts';
import type { Movable } from '../stage.ts';
import { NamedByDatabase } from './named-settings.ts';
import { preflight } from './preflight.ts';
import { Turns } from './turns.ts';
import { Verifiers } from './verifiers.ts';
import { waitsFor } from './waits-for.ts';
import { WithoutWarning } from './without-warning.ts';
import { WriteOrder } from './write-order.ts';
import type { Losable, LosableInputs, LossServices } from './without-warning.ts';

/** The end of a move. */
interface End {
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

const nothing = (): void => {};

export class Mover {
  readonly clock: Clock;
  readonly turns: Turns;
  readonly verifiers: Verifiers;
  readonly #reads: ReadOrder;
  readonly #writes: WriteOrder;
  readonly #inputs: MoverInputs;
  /** Undefined: no WAL positions are known. */
  readonly #lossServices: LossServices | undefined;
  readonly #named = new NamedByDatabase();
  readonly #packets = new SharedValues<Uint8Array>();
  readonly #told = new SharedValues<string>();

  constructor(inputs: MoverInputs) {
    this.#inputs = inputs;
    this.#lossServices = inputs.wal && { ...inputs, wal: inputs.wal };
    this.clock = inputs.clock;
    this.#reads = new ReadOrder(inputs);
    this.#writes = new WriteOrder(inputs);
    this.turns = new Turns(inputs);
    this.verifiers = new Verifiers(inputs);
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
  preflight(sessions: readonly SessionHandle[]): Promise<Preflight> {
    return preflight(sessions, this.clock);
  }

  /** Logins begin, as far as routes are open. */
  tableChanged(): void {
    this.#reads.learn();
    this.turns.tableChanged();
  }

  stop(): void {
    this.turns.stop();
    this.verifiers.endBatches();
  }

  // For its sessions alone.

  /** Sessions of one application have equal startup packets, so each keeps the same one. */
  sharedPacket(packet: Uint8Array): Uint8Array {
    return this.#packets.share(Buffer.from(packet).toString('latin1'), packet);
  }

  /** The parameters that a session was told, as one text: most sessions of an application are told the same. */
  readonly sharedTold = (told: string): string => this.#told.share(told, told);

  isRoleConfigured(role: string): boolean {
    return this.#inputs.policy()?.roles.some((pattern) => matchesWildcard(role, pattern)) === true;
  }

  question(serverMajor: number, database: string, memory: SessionMemory): SessionQuestion {
    const { settings = [], maxStateBytes = 0 } = this.#inputs.policy() ?? {};
    const customNames = [...settings, ...memory.names()];
    const unnamedText = memory.unnamedText();
    return new SessionQuestion({
      serverMajor,
      customNames,
      named: this.#named.of(database),
      unnamedText,
      maxStateBytes,
    });
  }

  /** The operator names the custom settings whose names functions compute. */
  areSettingsListed(): boolean {
    return (this.#inputs.policy()?.settings ?? []).length > 0;
  }

  answered(database: string, { namedSettings }: CarriedState): void {
    this.#named.learn(database, namedSettings);
  }

  /** To be called synchronously with the answer of its server. A text: no other server can be compared with it. */
  shown(session: Asked, wal: WalReport | undefined): Shown | string {
    const member = session.member();
    if (member === undefined) return 'its server is not known';
    return this.order(session.pool).shown(member, wal, session.address());
  }

  /** The rule for the next server of a session of the pool. */
  order(name: PoolName): MoveOrder {
    const pool = this.#inputs.pool(name);
    return pool !== undefined && isOfPrimary(pool) ? this.#writes : this.#reads;
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
    const giveBack = (): void => {
      if (!isDialled) this.turns.giveBack();
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

  asked({ id, pool }: Asked, member: MemberName | undefined, result: QuestionEnd, startedAt: Instant): void {
    if (member === undefined) return;
    const durationMs = this.clock.now() - startedAt;
    this.#inputs.onEvent({ kind: 'session_asked', pool, session: id, member, result, durationMs });
  }

  stayed(session: Asked, cause: EvictionCause, reason: PinReason, detail: string | undefined): void {
    const { id, pool } = session;
    const member = session.member();
    if (member === undefined) return;
    this.#inputs.onEvent({ kind: 'session_stayed', pool, session: id, member, cause, reason, detail });
  }

  parked(journey: Journey): void {
    const { id, pool, from, cause } = journey;
    this.#inputs.onEvent({ kind: 'session_parked', pool, session: id, member: from, cause });
    this.verifiers.keep();
    this.turns.add(journey, 0);
  }

  /** Undefined: its turn has come. */
  waitsFor(journey: Journey): string | undefined {
    if (this.turns.isMoving(journey)) return undefined;
    const { table, registry } = this.#inputs;
    const { pool, from, shown } = journey;
    const route = table().pools.get(pool)?.route;
    const limit = route?.kind === 'open' ? registry.limitReached(pool, route) : undefined;
    const place = this.turns.placeOf(journey) ?? 'unsure';
    const order = this.order(pool);
    const seemsCaughtUp = order.seemsCaughtUp.bind(order);
    return waitsFor({ from, place, route, limit, shown, seemsCaughtUp });
  }

  moved(journey: Journey, { to, startedAt, wasWaiting }: End): void {
    const { id, pool, from, cause, parkedAt } = journey;
    const now = this.clock.now();
    const gapMs = now - parkedAt;
    const loginMs = now - startedAt;
    this.#inputs.onEvent({ kind: 'session_moved', pool, session: id, from, to, cause, gapMs, loginMs, wasWaiting });
    this.#over(journey);
  }

  /** The session ended while it was parked or moving. */
  ended(journey: Journey): void {
    this.#over(journey);
  }

  turnedAway(member: MemberName): void {
    this.#inputs.onTrigger({ kind: 'backend_closed', member });
  }

  #over(journey: Journey): void {
    this.turns.over(journey);
    if (this.turns.isIdle()) this.verifiers.endBatches();
    this.turns.pump();
  }
}
