// Which sessions were lost, for the message of a test in which all should have moved: each one by its number, with the
// reason of its end and with every line of the log about it.
import { expect } from 'vitest';
import type { LogLine, PointsmanProcess } from '../processes/pointsman-process.ts';
import type { FleetVerdict } from './fleet.ts';

/** Each session of the fleet was kept as it was. */
export function expectKept(verdicts: readonly FleetVerdict[], pointsman: PointsmanProcess): void {
  const found = verdicts.map(({ driver, kept, errors, changed }) => ({ driver, kept, errors, changed }));
  const wanted = verdicts.map(({ driver, sessions }) => ({ driver, kept: sessions, errors: [], changed: [] }));
  expect(found, lostSessions(pointsman)).toEqual(wanted);
}

/** Behind it comes what Pointsman said last. */
export function lostSessions(pointsman: Pick<PointsmanProcess, 'lines' | 'explain'>): string {
  const { lines } = pointsman;
  const ofSession = Map.groupBy(
    lines.filter(({ session }) => typeof session === 'number'),
    ({ session }) => session,
  );
  const lost = [...ofSession].flatMap(([session, about]) => {
    const closed = about.find(isClosed);
    return closed !== undefined && isLost(about, closed) ? [describe(session, closed, about)] : [];
  });
  return [`${lost.length} sessions were lost`, ...lost, pointsman.explain()].join('\n');
}

function isClosed({ event }: LogLine): boolean {
  return event === 'session_closed';
}

/** A client that left has lost nothing, unless its session stayed: its server may have ended it. */
function isLost(about: readonly LogLine[], { reason }: LogLine): boolean {
  const last = about.findLast(({ event }) => event === 'session_stayed' || event === 'session_moved');
  return reason !== 'client_closed' || last?.['event'] === 'session_stayed';
}

function describe(session: unknown, { pool, client, reason }: LogLine, about: readonly LogLine[]): string {
  const end = `session ${String(session)} (pool ${String(pool)}, ${String(client)}): ${String(reason)}`;
  const told = about.map(({ time, level, msg }) => `  ${String(time)} ${String(level)} ${String(msg)}`);
  return [end, ...told].join('\n');
}
