// When a host has vanished and when it is back, from the list of its probes, for the second opinion of this directory.
// It shares only the types with src/core.
import type { Instant } from '../../../src/model/instant.ts';
import type { ProbeObservation } from '../../../src/model/observation.ts';

function isHole({ outcome }: ProbeObservation): boolean {
  return outcome.kind === 'failed' && outcome.postgres === 'silent' && outcome.cause === 'timeout';
}

export function isAnswered({ outcome }: ProbeObservation): boolean {
  return outcome.kind === 'answered';
}

/** A local fault, or a probe during which this process stood still. */
function isNothing(outcome: ProbeObservation['outcome']): boolean {
  if (outcome.kind !== 'failed') return false;
  return outcome.cause === 'local' || (outcome.cause === 'timeout' && outcome.postgres === 'unknown');
}

function refusesBoth({ outcome }: ProbeObservation): boolean {
  return outcome.kind === 'refused' && outcome.postgres === 'refused';
}

/** The probe at which it has vanished: the last of enough probes that found both ports silent. */
export function vanishing(probes: readonly ProbeObservation[], silentProbes: number): ProbeObservation | undefined {
  // A probe that tells nothing counts for nothing. Once it has vanished, it is back by an answer alone.
  const heard = probes.filter(({ outcome }) => !isNothing(outcome));
  const since = heard.slice(1 + heard.findLastIndex((probe) => isAnswered(probe) || refusesBoth(probe)));
  const holes = since.map((_, index) => since.slice(Math.max(0, index + 1 - silentProbes), index + 1));
  return holes.find((newest) => newest.length === silentProbes && newest.every(isHole))?.at(-1);
}

/** The newest answer of a member that had vanished. Only what it answers since then counts. */
export function returnOf(probes: readonly ProbeObservation[], silentProbes: number | undefined): Instant {
  if (silentProbes === undefined) return -Infinity;
  const back = probes.findLast(
    (probe, index) => isAnswered(probe) && vanishing(probes.slice(0, index), silentProbes) !== undefined,
  );
  return back?.startedAt ?? -Infinity;
}
