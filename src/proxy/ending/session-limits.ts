// The limits that a pool sets to the life of its sessions. A session that has lived for as long as its pool allows
// ends, so that a member that came back gets its share of a load that never reconnects by itself. It ends between two
// transactions only: a session that cannot be read (TLS between client and member) is left alone.
import type { Clock } from '../../model/instant.ts';
import { nothing } from '../../model/once.ts';
import type { PoolPolicy } from '../../model/policy.ts';
import type { SessionHandle } from '../stage.ts';
import { describeAge } from '../messages/close-message.ts';
import type { Drains } from './drains.ts';

interface LimitParts {
  readonly clock: Clock;
  readonly drains: Drains;
  /** A number in [0, 1). */
  readonly random: () => number;
}

/** Either way, so that sessions that began together do not end together. */
const JITTER = 0.1;

/** The session begins now. Returns the cancel function, which is idempotent. */
export function watchLimits(
  session: SessionHandle,
  { maxSessionAgeMs: maxAgeMs }: Pick<PoolPolicy, 'maxSessionAgeMs'>,
  { clock, drains, random }: LimitParts,
): () => void {
  if (maxAgeMs === undefined) return nothing;
  const startedAt = clock.now();
  const end = (): void => session.end('too_old', describeAge(clock.now() - startedAt, maxAgeMs));
  let cancel = nothing;
  const reached = (): void => {
    cancel = drains.whenIdle(session, end);
  };
  cancel = clock.schedule(maxAgeMs * (1 - JITTER + 2 * JITTER * random()), reached);
  return () => cancel();
}
