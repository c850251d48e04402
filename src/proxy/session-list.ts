// Lists the sessions of this process for an operator, and ends one of them. Everything is computed at the request, from
// the facts that a session keeps anyway.
import { firstOf, isWanted } from '../reports/session-list.ts';
import type { SessionFacts, KillResult, SessionEntry, SessionList, SessionQuery } from '../reports/session-list.ts';
import type { MoveRequest, MoveResult } from '../reports/session-move.ts';
import type { Mover } from './moves/mover.ts';
import type { SessionHandle } from './stage.ts';

/** `sessions`: in the order of their accepts, so that the oldest are known without a look at all. */
export function listSessions(sessions: Iterable<SessionHandle>, query: SessionQuery): SessionList {
  const { sort = 'age', limit } = query;
  const wanted: SessionEntry[] = [];
  let total = 0;
  for (const session of sessions) {
    if (!isWanted(filteredOf(session), query)) continue;
    total += 1;
    if (sort !== 'age' || wanted.length < limit) wanted.push(session.entry());
  }
  return { sessions: firstOf(wanted, query), total, silentWorkers: [] };
}

function filteredOf(session: SessionHandle): SessionFacts {
  const { id, pool, state, client, movable } = session;
  const moves = state === 'parked' || state === 'moving' ? movable?.shown() : undefined;
  return { id, pool, state, client, member: session.assignment()?.member, ...(moves !== undefined && { moves }) };
}

export function killSession(sessions: Iterable<SessionHandle>, id: number): KillResult {
  const session = Iterator.from(sessions).find((one) => one.id === id);
  if (session === undefined) return { kind: 'unknown' };
  const entry = session.entry();
  const statement = session.endStatement();
  // A client that reads its last message is not waited for.
  if (session.state === 'closing') session.cut('killed_by_operator');
  else session.end('killed_by_operator');
  return { kind: 'killed', session: entry, isClientTold: session.state === 'closing', statement };
}

/** `mover`: undefined without the section `moves`. */
export async function moveSession(
  sessions: Iterable<SessionHandle>,
  { session: id, mayAbort }: MoveRequest,
  mover: Mover | undefined,
): Promise<MoveResult> {
  if (mover === undefined) return { kind: 'not_configured' };
  const session = Iterator.from(sessions).find((one) => one.id === id);
  if (session === undefined) return { kind: 'unknown' };
  const from = session.assignment()?.member;
  const { movable, state } = session;
  const isEarly = state === 'startup' || state === 'holding' || state === 'dialing';
  if (movable === undefined) {
    return { kind: 'stayed', reason: isEarly ? 'busy' : 'unreadable', from, durationMs: 0 };
  }
  return mover.move(movable, from, mayAbort);
}
