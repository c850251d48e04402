// The drain of the whole process. Clients that wait for a route are refused at once; clients that arrive later are
// refused by their own session. A session that is on its way to another server is between two transactions, so it ends
// as an idle one. The sessions that are idle shortly before the deadline are ended then, whatever their turn, so that
// their clients can read the message. The caller cuts the rest at the deadline.
import type { Clock } from '../../model/instant.ts';
import type { SessionRegistry } from '../session-registry.ts';
import type { SessionHandle } from '../stage.ts';
import type { Drains } from './drains.ts';

/** Before the deadline. Milliseconds. */
const LAST_MESSAGES_MS = 1_000;

export interface ShutdownOptions {
  readonly registry: SessionRegistry;
  readonly drains: Drains;
  readonly clock: Clock;
  /** The configured limit. It is raised to the rate that ends all sessions by the deadline. */
  readonly perSecond: number;
}

/** Resolves when no session is left, or at the deadline. */
export async function drainAll(
  { registry, drains, clock, perSecond }: ShutdownOptions,
  limitMs: number,
): Promise<void> {
  const neededPerSecond = (registry.size() * 1_000) / Math.max(1, limitMs);
  drains.pace(Math.max(perSecond, neededPerSecond));
  for (const session of registry.all()) {
    if (session.state === 'holding') session.end('shutdown');
    drains.whenIdle(
      session,
      () => session.end('shutdown'),
      () => hasPause(session),
    );
  }
  const lastMessagesMs = Math.min(LAST_MESSAGES_MS, limitMs / 2);
  await registry.whenEmpty(clock, limitMs - lastMessagesMs);
  for (const session of registry.all()) if (hasPause(session)) session.end('shutdown');
  await registry.whenEmpty(clock, lastMessagesMs);
}

/** Its client can read why it ends. */
function hasPause(session: SessionHandle): boolean {
  return session.isIdle() || session.state === 'parked' || session.state === 'moving';
}
