// The WAL positions that a member has reported: its own as the primary, or the one that it has replayed.
import type { Instant } from '../model/instant.ts';
import type { MemberStatus } from '../model/member-status.ts';
import { POSITIONS_KEPT, type Position } from './snapshot.ts';

/** While PostgreSQL does not answer, an API may show the last values that it knows. */
function startOfPrimary({ role, state, startedAt }: MemberStatus): string | undefined {
  return role === 'primary' && state === 'running' ? startedAt : undefined;
}

/** After an answer with that body. Newest first. */
export function nextPositions(positions: readonly Position[], body: MemberStatus, at: Instant): readonly Position[] {
  // A replica may report `location` too. Only the primary's own is a reference for lag.
  const isPrimary = body.role === 'primary' || (body.role === undefined && body.replayed === undefined);
  const position: Position | undefined =
    isPrimary && typeof body.location === 'number'
      ? { at, kind: 'location', bytes: body.location, timeline: body.timeline, startedAt: startOfPrimary(body) }
      : typeof body.replayed === 'number'
        ? { at, kind: 'replayed', bytes: body.replayed }
        : undefined;
  return position === undefined ? positions : [position, ...positions].slice(0, POSITIONS_KEPT);
}
