// The part of a manager that its steps work with. Manager implements it; the steps import nothing else of it.
import type { Parameters, PostgresServer } from '../postgres/server-interface.ts';
import type { Clock } from './clock.ts';
import type { PeerAnswer } from './election.ts';
import type { Heartbeat } from './heartbeat.ts';
import type { Instance } from './instance.ts';
import type { PostgresReport } from './postgres-report.ts';
import type { StoreLink } from './store-link.ts';
import type { StoreSession } from './store-session.ts';
import type { MemberView, ScheduledRestart, Tags } from './view.ts';

export interface ManagerContext {
  readonly name: string;
  readonly store: StoreLink;
  readonly session: StoreSession;
  readonly instance: Instance;
  readonly clock: Clock;
  readonly heartbeat: Pick<Heartbeat, 'poke'>;
  /** The last report of the PostgreSQL server. Undefined when it did not answer. */
  report(): PostgresReport | undefined;
  reported(report: PostgresReport): void;
  scheduledRestart(): ScheduledRestart | undefined;
  setScheduledRestart(restart: ScheduledRestart | undefined): void;
  /** The value of that parameter while the member leads. */
  setSynchronousStandbyNames(names: string): void;
  /** The parameters for the PostgreSQL server. */
  parameters(): Parameters;
  tags(): Tags;
  isAbandoned(): boolean;
  serverOf(member: string): PostgresServer | undefined;
  look(deadlineMs?: number): Promise<MemberView>;
  publish(): void;
  /** Reports the text as an event, once for the same text in a row. */
  tell(text: string): void;
  warn(text: string): void;
  tellLeads(timeline: number): void;
  /** The current task. */
  task(): string | undefined;
  /** Runs beside the heartbeat, which keeps the lock. Undefined when another task runs. */
  runAlone<T>(name: string, work: () => Promise<T>): Promise<T> | undefined;
  /** Asks the other members, as the store last listed them. */
  askOthers(names?: readonly string[]): Promise<readonly PeerAnswer[]>;
}
