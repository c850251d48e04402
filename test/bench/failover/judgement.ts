// What one scene did to the clients of one peer, counted from their attempts. The definitions that the table's legend tells.
import type { Attempt } from '../../support/applications/connect-load.ts';

/** When what happened, by monotonicMs(), and which servers may take a write. */
export interface SceneFacts {
  /** From here on attempts count; those begun before may have been with a server that went away under them. */
  readonly faultAtMs: number;
  /** host:port of who may take writes before the change, and after it; the same without a change. */
  readonly before: string;
  readonly after: string;
  /** First direct write on the new primary; Infinity without a change. */
  readonly changedAtMs: number;
}

export interface Counts {
  /** Begun after the fault. */
  readonly attempts: number;
  readonly failedConnects: number;
  readonly readOnlyErrors: number;
  /** A statement that failed on a session that had been opened, with another error than the read-only one. */
  readonly failedStatements: number;
  /** Acknowledged by a server that was not the primary when the client read so. */
  readonly strayWrites: number;
  /** Begun before the fault and failed. */
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
