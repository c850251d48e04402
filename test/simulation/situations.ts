// The situations that the histories of the normal run reach. A situation that no history reaches any more is a hole:
// the run fails then.
import { FAULT_KINDS } from './scene/plan.ts';
import type { Scene } from './scene/scene.ts';
import { Sight } from './sight.ts';

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
      .some(({ at }) => sight.all('session_parked').some(({ run, event }) => sight.isParkedAt(run, event.session, at))),
  'a transaction is rolled back for a switchover': (sight) => sight.isRolledBack(({ cause }) => cause === 'switchover'),
  'a transaction is rolled back for a restart': (sight) => sight.isRolledBack(({ cause }) => cause === 'restart'),
  'a transaction is lost with its server, and its session goes on': (sight) =>
    sight.isRolledBack(({ cause }) => cause === 'dead'),
  'a read transaction is rolled back for a move': (sight) => sight.isRolledBack(({ pool }) => pool === 'read'),
  'a statement reads that its transaction was rolled back': (sight) => sight.readsRollback('a statement'),
  'a COMMIT reads that its transaction was rolled back': (sight) => sight.readsRollback('COMMIT'),
  'a client goes on in a transaction that was rolled back': (sight) => sight.readsRollback('more'),
  'a client commits a transaction that was rolled back': (sight) => sight.readsRollback('COMMIT behind it'),
  'a client ends a transaction that was rolled back, and knows nothing of it': (sight) => sight.rollsBackItself(),
  'a session moves in a transaction that has failed by itself': (sight) => sight.movesInFailed(),
  'a statement that goes on keeps its session from a move': (sight) =>
    sight.has('session_stayed', ({ reason }) => reason === 'busy'),
  'an operation succeeds': (sight) => sight.has('operation_ended', ({ outcome }) => outcome === 'done'),
  'a client is told of a shutdown': (sight) => sight.told('57P01'),
  'a client loses its connection without a word': (sight) => sight.told('closed without a word'),
  'a session opens while the store is down': (sight) =>
    sight.during('store is down', ({ kind }) => kind === 'session_opened'),
  'Pointsman hands over while sessions are live': (sight) =>
    sight.during('pointsman hands over', ({ kind }) => kind === 'session_opened'),
  'two Pointsmen serve': ({ scene }) => scene.sites.length > 1,
  'two Pointsmen have different primaries': (sight) => sight.isDisputed(),
  'one Pointsman switches over while the other one serves': (sight) =>
    sight.besideAnother('operation_phase', ({ phase }) => phase === 'drain', 'open'),
  'one Pointsman switches over while the clients of the other one wait': (sight) =>
    sight.besideAnother('operation_phase', ({ phase }) => phase === 'confirm', 'hold'),
  'one Pointsman sees no primary while the other one serves': (sight) =>
    sight.besideAnother('route_changed', ({ pool, to }) => pool === 'write' && to.kind === 'hold', 'open'),
  'two Pointsmen switch over at one time': (sight) => sight.areTwoOperating(),
  'a client goes to the other Pointsman': (sight) => sight.goesToBoth(),
  'another primary is proven while Pointsman restarts the last one': (sight) =>
    sight.has(
      'standing_changed',
      ({ pool, from, to }) =>
        pool === 'write' &&
        from?.kind === 'leave' &&
        from.cause === 'restart' &&
        to.kind === 'leave' &&
        to.why.code === 'superseded',
    ),
  'an operation is refused': (sight) => sight.has('operation_ended', ({ outcome }) => outcome === 'refused'),
  'an operation fails': (sight) => sight.has('operation_ended', ({ outcome }) => outcome === 'failed'),
  'a reload applies': (sight) => sight.has('config_reloaded', ({ changed }) => changed.length > 0),
  'a reload is refused': (sight) => sight.has('config_reload_failed'),
  'a client is over a limit': (sight) => sight.ended('too_many_sessions'),
  'a session is parked by a restart': (sight) => sight.has('session_parked', ({ cause }) => cause === 'restart'),
  'a session ends for a restart': (sight) => sight.ended('evicted_restart'),
  'a member leaves a pool by its tags': (sight) =>
    sight.has('standing_changed', ({ to }) => to.kind === 'leave' && to.cause === 'tagged_out'),
  'a member is no longer there': (sight) => sight.ended('evicted_removed'),
  'a member comes back': (sight) =>
    sight.all('members_changed').some(({ event }) => event.removed.length > 0) &&
    sight.has('members_changed', ({ added }) => added.length > 0),
  'a client half-closes while it is held': (sight) => sight.does('half-closes', ({ stage }) => stage === 'held'),
  'a client half-closes while it is parked': (sight) => sight.does('half-closes', ({ stage }) => stage === 'parked'),
  'a client half-closes in a transaction': (sight) =>
    sight.does('half-closes', ({ stage, isInTransaction }) => stage === 'relayed' && isInTransaction),
  'a client resets its connection': (sight) => sight.ended('client_reset'),
  'a client resets in a transaction': (sight) => sight.does('resets', ({ isInTransaction }) => isInTransaction),
  'a client cancels while it is held': (sight) => sight.does('cancels', ({ stage }) => stage === 'held'),
  'a client cancels while it is parked': (sight) => sight.does('cancels', ({ stage }) => stage === 'parked'),
  'a client cancels in a transaction': (sight) => sight.does('cancels', ({ isInTransaction }) => isInTransaction),
  'a cancel request has an unknown key': (sight) => sight.has('cancel_forwarded', ({ key }) => key === 'unknown'),
  'a statement that waits is cancelled': (sight) =>
    sight.has('cancel_forwarded', ({ key, members }) => key === 'known' && members.length === 0),
  'an answer is torn': (sight) =>
    sight.during(
      'connection is torn in an answer',
      (event) => event.kind === 'session_closed' && ['backend_reset', 'move_in_flight'].includes(event.reason),
    ),
  'a server is full': (sight) => sight.told('53300'),
};

export const SITUATION_NAMES: readonly string[] = Object.keys(TABLE);

export function situationsOf(scene: Scene): ReadonlySet<string> {
  const sight = new Sight(scene);
  return new Set(SITUATION_NAMES.filter((name) => TABLE[name]?.(sight) === true));
}
