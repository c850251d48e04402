// The meaning of one probe for a check, from the prose of guarantees.md, for the second opinions of this directory. It
// shares only the types with src/core.
import type { ProbeObservation } from '../../../src/model/observation.ts';
import type { MemberStatus } from '../../../src/model/member-status.ts';
import { READ_CHECK, WRITE_CHECK } from '../../support/values/builders.ts';
import { ZONE_CHECK } from './histories.ts';

export type Word = 'yes' | 'no' | 'not_now' | undefined;

export function bodyOf(probe: ProbeObservation | undefined): MemberStatus | undefined {
  return probe?.outcome.kind === 'answered' ? probe.outcome.body : undefined;
}

/** The meaning of a probe for /primary. */
export function aboutWriting(probe: ProbeObservation): Word {
  if (probe.outcome.kind !== 'answered') return undefined;
  const { status, body } = probe.outcome;
  if (probe.check !== WRITE_CHECK) {
    return ['replica', 'standby_leader', 'demoted', 'uninitialized'].includes(body?.role ?? '') ? 'no' : undefined;
  }
  if (status === 503) return 'no';
  const isRole = body?.role === undefined || body.role === 'primary';
  const isRunning = body?.state === undefined || body.state === 'running';
  const hasStarted = body?.role === 'primary' && body.state === 'starting' && typeof body.location === 'number';
  return (isRole && isRunning) || hasStarted ? 'yes' : 'not_now';
}

export function isPromoting(probe: ProbeObservation): boolean {
  const role = bodyOf(probe)?.role;
  return aboutWriting(probe) === 'not_now' && role !== undefined && role !== 'primary';
}

/** The meaning of a probe for a pool of replicas: `never` excludes at once, `no` after `fall` answers. */
export function aboutReading(check: string, probe: ProbeObservation): 'yes' | 'no' | 'never' | undefined {
  if (probe.outcome.kind !== 'answered') return undefined;
  const { status, body } = probe.outcome;
  const isAsked = probe.check === check;
  const zone = body?.tags?.get('zone');
  const isElsewhere = check === ZONE_CHECK && body?.tags !== undefined && zone !== 'a';
  const isOut = (body?.noloadbalance === true && body.role !== 'primary') || isElsewhere;
  const isDown = body?.state !== undefined && body.state !== 'running';
  if (body?.role === 'primary' || isDown || isOut) return 'never';
  if (!isAsked) return undefined;
  if (status === 503) return check === ZONE_CHECK && body?.tags === undefined ? 'never' : 'no';
  return check === READ_CHECK && body?.replayed === 'invalid' ? 'no' : 'yes';
}
