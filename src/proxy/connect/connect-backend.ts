// Finds one client a backend: asks for fresh evidence where the pool is exclusive, picks, dials, and reads the table again in
// the step of the connect. A socket is handed over only while its member is open at that address (G2, G3). Reports exactly
// once, and nothing after its abort. Forwards nothing.
import type { Socket } from 'node:net';
import type { Clock } from '../../model/instant.ts';
import type { MemberName } from '../../model/member.ts';
import type { PoolName, PoolPolicy } from '../../model/policy.ts';
import type { Route, Target } from '../../core/routing-table.ts';
import type { ConnectAttempts } from './connect-attempts.ts';
import { raceConnects } from './connect-race.ts';
import type { DialResult } from './dial.ts';
import { awaitGreeting } from './greeting.ts';
import type { Greeted } from './greeting.ts';
import { negotiate } from './negotiation.ts';
import type { ProxyDependencies } from '../options.ts';
import type { Assignment, SessionRegistry } from '../session-registry.ts';
import { isAmong } from './parked-backends.ts';
import type { ParkedBackend } from './parked-backends.ts';
import type { Surroundings } from '../surroundings.ts';

export type OpenRoute = Extract<Route, { kind: 'open' }>;

export interface ConnectInputs {
  readonly session: number;
  /** The client's, without its port. */
  readonly clientAddress: string;
  readonly pool: PoolPolicy;
  readonly attempts: ConnectAttempts;
  readonly around: Surroundings;
  /** The client's packet, where its answer can be awaited. */
  readonly firstRequest: FirstRequest | undefined;
  /** Used instead of a dial, if its member is open. */
  readonly parked: ParkedBackend | undefined;
  /** The dial begins: the session is assigned to its member. */
  readonly onAssigned: (assignment: Assignment) => void;
  /** `greeted` is set when the packet was sent already. */
  readonly onConnected: (target: Target, backend: Socket, greeted: Greeted | undefined) => void;
  /** No encryption here: the client may go on in plain text. */
  readonly onDeclined: (target: Target, backend: Socket) => void;
  /** The backend was reached, and left the client without a word. */
  readonly onClosed: (target: Target) => void;
  /** The member is no longer open, or another one is left to try: route again. */
  readonly onRouteAgain: () => void;
  /** The route looks open and nobody could be reached: wait so long first. */
  readonly onUnreachable: (pauseMs: number) => void;
}

export interface FirstRequest {
  /** `startup`: the client's whole conversation so far. */
  readonly kind: 'startup' | 'negotiation';
  readonly packet: Uint8Array;
}

const nothing = (): void => {};

export function openRoute(seams: ProxyDependencies, pool: PoolName): OpenRoute | undefined {
  const route = seams.table().pools.get(pool)?.route;
  return route?.kind === 'open' ? route : undefined;
}

/** Says that the pool may have no more sessions while it is degraded as it is; undefined while it may. */
export function fullRoute(
  registry: SessionRegistry,
  pool: PoolName,
  { fallback, lagging }: OpenRoute,
): string | undefined {
  if (fallback !== undefined && registry.fallbackSessions(pool) >= fallback.maxSessions) {
    const where = `pool "${pool}" lives on the members of pool "${fallback.pool}"`;
    return `${where}, where its bound is ${fallback.maxSessions} sessions`;
  }
  if (lagging !== undefined && registry.laggingSessions(pool) >= lagging.maxSessions) {
    return `every member of pool "${pool}" lags, and while that is so its bound is ${lagging.maxSessions} sessions`;
  }
  return undefined;
}

function connectTimeoutMs({ policy }: Surroundings): number {
  return policy().backend.connectTimeoutMs;
}

/** The caller has just seen the route open. Returns the abort, which is idempotent. */
export function connectBackend(inputs: ConnectInputs): () => void {
  const { pool, around } = inputs;
  const { seams } = around;
  const asked = pool.exclusive ? seams.freshen(pool.name) : undefined;
  if (asked === undefined) return connectToMember(inputs);
  let abort = nothing;
  const connect = (): void => {
    abort = connectToMember(inputs);
  };
  abort = once(seams.clock, connectTimeoutMs(around), asked, connect);
  return () => abort();
}

/** Runs when `asked` has settled, at the latest after `limitMs`: no client waits for an answer without a bound (G10). */
function once(clock: Clock, limitMs: number, asked: Promise<void>, run: () => void): () => void {
  let isDone = false;
  const cancel = (): void => {
    isDone = true;
    cancelLimit();
  };
  const go = (): void => {
    if (isDone) return;
    cancel();
    run();
  };
  const cancelLimit = clock.schedule(limitMs, go);
  void asked.then(go, go);
  return cancel;
}

function connectToMember(inputs: ConnectInputs): () => void {
  const { around, pool, attempts } = inputs;
  const { seams, picker, dial } = around;
  const { clock } = seams;
  seams.decideIfDue();
  const route = openRoute(seams, pool.name);
  if (route === undefined) {
    inputs.onRouteAgain();
    return nothing;
  }
  const kept = inputs.parked?.take(route.targets);
  if (kept !== undefined) {
    inputs.onAssigned(assignmentTo(kept.target, route));
    return handOver(inputs, kept.target, kept.socket);
  }
  const attemptsLeft = attempts.left();
  let assigned = picker.pick(pool, attempts.preferred(route.targets), inputs.clientAddress);
  let abort = nothing;
  const assign = (target: Target): void => {
    assigned = target;
    inputs.onAssigned(assignmentTo(target, route));
  };
  const abortRace = raceConnects({
    dial,
    clock,
    timeoutMs: connectTimeoutMs(around),
    delayMs: route.targets.length > 1 ? around.policy().backend.attemptDelayMs : undefined,
    first: assigned,
    next: (tried) => (tried.size < attemptsLeft ? anotherTarget(inputs, tried) : undefined),
    onBegin: assign,
    onFinished: ({ member }, outcome, durationMs) =>
      seams.onEvent({ kind: 'dial_finished', pool: pool.name, session: inputs.session, member, outcome, durationMs }),
    onSlow: ({ member }) => seams.onTrigger({ kind: 'connect_slow', member }),
    onConnected: (target, socket) => {
      if (target !== assigned) assign(target);
      abort = handOver(inputs, target, socket);
    },
    onFailed: (target, result, isLast) => failed(inputs, target, result, isLast),
  });
  return () => {
    abortRace();
    abort();
  };
}

function assignmentTo(target: Target, { fallback, lagging }: OpenRoute): Assignment {
  return { ...target, isFallback: fallback !== undefined, isLagging: lagging !== undefined };
}

/** Another member of the route as it is now, to be tried beside those that were. */
function anotherTarget(
  { around, pool, attempts, clientAddress }: ConnectInputs,
  tried: ReadonlySet<MemberName>,
): Target | undefined {
  around.seams.decideIfDue();
  const targets = openRoute(around.seams, pool.name)?.targets ?? [];
  const [first, ...rest] = targets.filter(({ member }) => !tried.has(member));
  return first && around.picker.pick(pool, attempts.preferred([first, ...rest]), clientAddress);
}

function handOver(inputs: ConnectInputs, target: Target, backend: Socket): () => void {
  const { pool, attempts, firstRequest, onConnected } = inputs;
  const { seams } = inputs.around;
  seams.decideIfDue();
  if (!isAmong(openRoute(seams, pool.name)?.targets ?? [], target)) {
    backend.destroy();
    inputs.onRouteAgain();
    return nothing;
  }
  // A client of an exclusive pool whose server shuts down in this very moment gets one more chance: its packet, which nobody took,
  // is its whole conversation so far. The second server's answer is relayed whatever it is.
  const mayTurnAway = pool.exclusive && !attempts.wasTurnedAway();
  const turnedAway = (): void => {
    seams.onTrigger({ kind: 'backend_closed', member: target.member });
    if (!mayTurnAway) return inputs.onClosed(target);
    attempts.turnedAway();
    inputs.onRouteAgain();
  };
  const { clock } = seams;
  if (firstRequest?.kind === 'negotiation') {
    return negotiate({
      backend,
      request: firstRequest.packet,
      clock,
      onDeclined: () => inputs.onDeclined(target, backend),
      onAnswered: (words) => onConnected(target, backend, { words }),
      onClosed: turnedAway,
    });
  }
  if (firstRequest === undefined || !mayTurnAway) {
    onConnected(target, backend, undefined);
    return nothing;
  }
  const onGreeted = (greeted: Greeted): void => onConnected(target, backend, greeted);
  return awaitGreeting({ backend, startup: firstRequest.packet, clock, onGreeted, onTurnedAway: turnedAway });
}

function failed(
  inputs: ConnectInputs,
  { member }: Target,
  result: Extract<DialResult, { kind: 'failed' }>,
  isLast: boolean,
): void {
  const { attempts, pool } = inputs;
  const { seams } = inputs.around;
  if (!result.isLocalFault) seams.onTrigger({ kind: 'dial_failed', member });
  const route = openRoute(seams, pool.name);
  const pauseMs = attempts.failed(member, result.detail, result.isLocalFault, route?.targets ?? []);
  if (!isLast) return;
  if (route === undefined || pauseMs === 0) inputs.onRouteAgain();
  else inputs.onUnreachable(pauseMs);
}
