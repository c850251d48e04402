// Time in which this machine could not send probes (no file descriptor, no memory, no local port) does not count as
// silence of the member (G12).
import type { Instant } from '../model/instant.ts';
import type { ProbeOutcome } from '../model/observation.ts';

/** Time without probes since the member's newest answer. */
export interface UnsentTime {
  /** Defined while probes cannot be sent. */
  readonly since: Instant | undefined;
  /** Earlier periods. Milliseconds. */
  readonly ms: number;
}

/** To be called after a probe without an answer. */
export function nextUnsentTime(
  known: UnsentTime | undefined,
  outcome: ProbeOutcome,
  at: Instant,
): UnsentTime | undefined {
  const isUnsent = outcome.kind === 'failed' && outcome.isUnsent === true;
  if (known === undefined) return isUnsent ? { since: at, ms: 0 } : undefined;
  const { since, ms } = known;
  if (isUnsent) return { since: since ?? at, ms };
  return since === undefined ? known : { since: undefined, ms: ms + at - since };
}
