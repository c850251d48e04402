// The silence of a member counts without the time in which this machine could not ask it (no file descriptor left, no
// memory, no local port): a question that was never sent has no answer (G12). Pure.
import type { Ages, Instant } from '../model/instant.ts';
import type { ProbeOutcome } from '../model/observation.ts';

/** Since the member's newest answer. */
export interface Unasked {
  /** Present while probes cannot be sent. */
  readonly since: Instant | undefined;
  /** Such time before that. Milliseconds. */
  readonly ms: number;
}

/** After a probe without an answer. */
export function nextUnasked(known: Unasked | undefined, outcome: ProbeOutcome, at: Instant): Unasked | undefined {
  const isUnsent = outcome.kind === 'failed' && outcome.isUnsent === true;
  if (known === undefined) return isUnsent ? { since: at, ms: 0 } : undefined;
  const { since, ms } = known;
  if (isUnsent) return { since: since ?? at, ms };
  return since === undefined ? known : { since: undefined, ms: ms + at - since };
}

/** Whether what was last known at `at` still keeps live sessions. */
export function isWithinGrace(
  at: Instant | undefined,
  unasked: Unasked | undefined,
  silenceGraceMs: number,
  ages: Ages,
): boolean {
  const limitMs = silenceGraceMs + (unasked?.ms ?? 0);
  if (unasked?.since === undefined) return ages.isYoung(at, limitMs);
  return at !== undefined && at + limitMs > unasked.since;
}
