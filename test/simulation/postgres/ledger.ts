// The truth about statements: each one that a server ran for a client, where, when, on which timeline, at which place
// of the WAL it committed, and whether the server confirmed it.
import type { Change, WalRecord } from './wal.ts';

export interface Execution {
  readonly server: string;
  /** The start of the server: another instant follows each start. */
  readonly startedAt: number;
  /** The application_name of the startup packet: which client it is. */
  readonly client: string;
  /** The process of the server. */
  readonly process: number;
  readonly at: number;
  readonly timeline: number;
  readonly isInRecovery: boolean;
  readonly sql: string;
  /** Undefined: it wrote nothing. */
  readonly change: Change | undefined;
  /** The end of its transaction, once that has committed. */
  record: WalRecord | undefined;
  /** It is visible to others. */
  committedAt: number | undefined;
  /** The server has sent the result of the commit to its client. */
  confirmedAt: number | undefined;
  /** With synchronous_commit = off a commit is confirmed before it is on disk. */
  isDurable: boolean;
  /** The wait for a synchronous standby was cut short: PostgreSQL warns that the commit may be lost. */
  isLocalOnly: boolean;
}

/** A server has begun a timeline. */
export interface Promotion {
  readonly server: string;
  readonly timeline: number;
  /** Where the timeline before it ended, in bytes. */
  readonly position: number;
  readonly at: number;
}

type Outcome = 'record' | 'committedAt' | 'confirmedAt' | 'isDurable' | 'isLocalOnly';

export class Ledger {
  readonly promotions: Promotion[] = [];
  readonly #executions: Execution[] = [];

  add(execution: Omit<Execution, Outcome>): Execution {
    const entry = {
      ...execution,
      record: undefined,
      committedAt: undefined,
      confirmedAt: undefined,
      isDurable: true,
      isLocalOnly: false,
    };
    this.#executions.push(entry);
    return entry;
  }

  executions(): readonly Execution[] {
    return this.#executions;
  }

  writes(): readonly Execution[] {
    return this.#executions.filter(({ change }) => change !== undefined);
  }
}
