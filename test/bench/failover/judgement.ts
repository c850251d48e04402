// The effect of one scene on the clients of one peer, counted from their attempts. The table's legend has the
// definitions.
import type { Attempt } from '../../support/applications/connect-load.ts';

/** The times of the events, by monotonicMs(), and the servers that may take a write. */
export interface SceneFacts {
  /** Attempts count from here on; earlier ones may have had a server that went away. */
  readonly faultAtMs: number;
  /** host:port of the server that may take writes before the change, and after it; equal without a change. */
  readonly before: string;
  readonly after: string;
  /** The first direct write on the new primary; Infinity without a change. */
  readonly changedAtMs: number;
}

export interface Counts {
  /** Attempts that began after the fault. */
  readonly attempts: number;
  readonly failedConnects: number;
  readonly readOnlyErrors: number;
  /** Statements that failed on an open session, with another error than the read-only one. */
  readonly failedStatements: number;
  /** Writes acknowledged by a server that was not the primary at the time of the client's read. */
  readonly strayWrites: number;
  /** Attempts that began before the fault and failed. */
  readonly cutInFlight: number;
}

const READ_ONLY = '25006';

export function count(attempts: readonly Attempt[], facts: SceneFacts): Counts {
  const after = attempts.filter((attempt) => attempt.startedAtMs > facts.faultAtMs);
  const failed = after.filter((attempt) => attempt.error !== undefined);
  const readOnly = failed.filter(isReadOnly);
  const connects = failed.filter((attempt) => attempt.connectError !== undefined && !isReadOnly(attempt));
  return {
    attempts: after.length,
    failedConnects: connects.length,
    readOnlyErrors: readOnly.length,
    failedStatements: failed.length - readOnly.length - connects.length,
    strayWrites: attempts.filter((attempt) => isStray(attempt, facts)).length,
    cutInFlight: attempts.filter((one) => one.startedAtMs <= facts.faultAtMs && one.error !== undefined).length,
  };
}

function isReadOnly({ error }: Attempt): boolean {
  return error?.startsWith(READ_ONLY) ?? false;
}

function isStray({ server, endedAtMs }: Attempt, { before, after, changedAtMs }: SceneFacts): boolean {
  if (server === undefined || server === after) return false;
  return server !== before || endedAtMs > changedAtMs;
}

export const NOTHING: Counts = {
  attempts: 0,
  failedConnects: 0,
  readOnlyErrors: 0,
  failedStatements: 0,
  strayWrites: 0,
  cutInFlight: 0,
};

export function sum(a: Counts, b: Counts): Counts {
  return {
    attempts: a.attempts + b.attempts,
    failedConnects: a.failedConnects + b.failedConnects,
    readOnlyErrors: a.readOnlyErrors + b.readOnlyErrors,
    failedStatements: a.failedStatements + b.failedStatements,
    strayWrites: a.strayWrites + b.strayWrites,
    cutInFlight: a.cutInFlight + b.cutInFlight,
  };
}
