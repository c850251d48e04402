// The situations that the histories of the normal run reach. A situation that no history reaches any more is a hole:
// the run fails then.
import type { ReportedEvent } from '../../src/reports/events.ts';
import type { FaultKind } from './scene/plan.ts';
import { FAULT_KINDS } from './scene/plan.ts';
import type { Scene } from './scene/scene.ts';

type Kind = ReportedEvent['kind'];
type Of<One extends Kind> = Extract<ReportedEvent, { readonly kind: One }>;

/** One history, as the table asks about it. */
class Sight {
  readonly scene: Scene;

  constructor(scene: Scene) {
    this.scene = scene;
  }

  has<One extends Kind>(kind: One, test: (event: Of<One>) => boolean = () => true): boolean {
    return this.all(kind).some(({ event }) => test(event));
  }

  all<One extends Kind>(kind: One): readonly { readonly at: number; readonly event: Of<One> }[] {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the kind decides the type
    return this.scene.events.filter(({ event }) => event.kind === kind) as never;
  }

  ended(reason: string): boolean {
    return this.has('session_closed', (event) => event.reason === reason);
  }

  told(code: string): boolean {
    return this.scene.clients.some(({ account }) => account.sessions.some(({ ending }) => ending === code));
  }

  canceled(end: string): boolean {
    return this.scene.clients.some(({ account }) => account.cancels.includes(end));
  }

  during(kind: FaultKind, test: (event: ReportedEvent) => boolean): boolean {
    const { plan, events } = this.scene;
    const faults = plan.faults.filter((fault) => fault.kind === kind);
    return events.some(({ at, event }) => {
      const since = at - START_MS;
      return test(event) && faults.some(({ atMs, forMs }) => since >= atMs && since <= atMs + forMs);
    });
  }

  /** A session is parked, and its next primary is lost before it goes on. */
  isParkedAgain(): boolean {
    return this.all('session_parked').some(({ at, event }) =>
      this.all('route_changed').some(
        (route) =>
          route.at > at &&
          route.event.pool === 'write' &&
          route.event.to.kind === 'hold' &&
          this.isParkedAt(event.session, route.at),
      ),
    );
  }

  isParkedAt(session: number, at: number): boolean {
    const parked = this.all('session_parked')
      .filter((one) => one.event.session === session && one.at < at)
      .at(-1);
    if (parked === undefined) return false;
    const over = [...this.all('session_moved'), ...this.all('session_closed')].filter(
      (one) => one.event.session === session && one.at > parked.at,
    );
    return over.every((one) => one.at > at);
  }
}

const START_MS = 2_000;

const TABLE: Readonly<Record<string, (sight: Sight) => boolean>> = {
  ...Object.fromEntries(
    FAULT_KINDS.map((kind) => [
      `fault: ${kind}`,
      ({ scene }: Sight) => scene.plan.faults.some((fault) => fault.kind === kind),
    ]),
  ),
  'two workers serve': ({ scene }) => scene.plan.shape.workers > 1,
  'two members': ({ scene }) => scene.plan.shape.members === 2,
  'a client waits for a route': (sight) => sight.has('hold_started'),
  'a waiting client is released': (sight) => sight.has('hold_ended', ({ outcome }) => outcome === 'released'),
  'no member for writes': (sight) =>
    sight.has('route_changed', ({ pool, to }) => pool === 'write' && to.kind === 'hold' && to.cause === 'no_member'),
  'writes wait for a switchover': (sight) =>
    sight.has('route_changed', ({ pool, to }) => pool === 'write' && to.kind === 'hold' && to.cause === 'switchover'),
  'writes wait for the first round': (sight) =>
    sight.has('route_changed', ({ from }) => from?.kind === 'hold' && from.cause === 'starting'),
  'reads fall back to the primary': (sight) =>
    sight.has('route_changed', ({ pool, to }) => pool === 'read' && to.kind === 'open' && to.fallback !== undefined),
  'reads come back from the fallback': (sight) =>
    sight.has(
      'route_changed',
      ({ pool, from, to }) =>
        pool === 'read' &&
        from?.kind === 'open' &&
        from.fallback !== undefined &&
        to.kind === 'open' &&
        to.fallback === undefined,
    ),
  'a read replica leaves': (sight) =>
    sight.has('standing_changed', ({ pool, to }) => pool === 'read' && to.kind === 'leave'),
  'a primary is demoted': (sight) =>
    sight.has(
      'standing_changed',
      ({ pool, from, to }) => pool === 'write' && from?.kind === 'open' && to.kind === 'leave',
    ),
  'a primary falls silent': (sight) =>
    sight.has(
      'standing_changed',
      ({ pool, to }) => pool === 'write' && to.kind === 'keep' && to.why.code === 'no_answer',
    ),
  'a primary is dead': (sight) =>
    sight.has('standing_changed', ({ pool, to }) => pool === 'write' && to.kind === 'leave' && to.cause === 'dead'),
  'a promotion is not finished': (sight) =>
    sight.has('standing_changed', ({ to }) => to.kind === 'keep' && to.why.code === 'promoting'),
  'another member becomes the primary': ({ scene }) => scene.cluster.ledger.promotions.length > 0,
  'two promotions': ({ scene }) => scene.cluster.ledger.promotions.length > 1,
  'probing is urgent': (sight) => sight.has('urgent_probing', ({ on }) => on),
  'probing is calm again': (sight) => sight.has('urgent_probing', ({ on }) => !on),
  'a probe times out': (sight) => sight.has('probe_finished', ({ outcome }) => outcome === 'timeout'),
  'a probe is refused': (sight) => sight.has('probe_finished', ({ outcome }) => outcome === 'refused'),
  'a client closes its session': (sight) => sight.ended('client_closed'),
  'a server closes a session': (sight) => sight.ended('backend_closed'),
  'a server resets a session': (sight) => sight.ended('backend_reset'),
  'a session is cut by a demotion': (sight) => sight.ended('evicted_demoted'),
  'a session is cut by silence': (sight) => sight.ended('evicted_silent'),
  'a session is cut by a promotion of its replica': (sight) => sight.ended('evicted_promoted'),
  'a session is ended by a shutdown': (sight) => sight.ended('shutdown'),
  'a session ends for a switchover': (sight) =>
    sight.ended('evicted_switchover') || sight.ended('evicted_switchover_timeout'),
  'a session is asked': (sight) => sight.has('session_asked', ({ result }) => result === 'movable'),
  'a session is parked by a switchover': (sight) => sight.has('session_parked', ({ cause }) => cause === 'switchover'),
  'a session is parked by a loss': (sight) => sight.has('session_parked', ({ cause }) => cause === 'dead'),
  'a session moves': (sight) => sight.has('session_moved'),
  'a client waited while its session moved': (sight) => sight.has('session_moved', ({ wasWaiting }) => wasWaiting),
  'a lost session is not covered': (sight) => sight.ended('move_uncovered'),
  'parked while the next primary is lost': (sight) => sight.isParkedAgain(),
  'a cancel request is known': (sight) => sight.has('cancel_forwarded', ({ key }) => key === 'known'),
  'a cancel request hits its statement': (sight) => sight.canceled('57014'),
  'a cancel request comes too late': (sight) => sight.canceled('done'),
  'a cancel request during a move': (sight) =>
    sight
      .all('cancel_forwarded')
      .some(({ at }) => sight.all('session_parked').some((parked) => sight.isParkedAt(parked.event.session, at))),
  'an operation succeeds': (sight) => sight.has('operation_ended', ({ outcome }) => outcome === 'done'),
  'a client is told of a shutdown': (sight) => sight.told('57P01'),
  'a client loses its connection without a word': (sight) => sight.told('closed without a word'),
  'a session opens while the store is down': (sight) =>
    sight.during('store is down', ({ kind }) => kind === 'session_opened'),
  'Pointsman hands over while sessions are live': (sight) =>
    sight.during('pointsman hands over', ({ kind }) => kind === 'session_opened'),
};

export const SITUATION_NAMES: readonly string[] = Object.keys(TABLE);

export function situationsOf(scene: Scene): ReadonlySet<string> {
  const sight = new Sight(scene);
  return new Set(SITUATION_NAMES.filter((name) => TABLE[name]?.(sight) === true));
}
