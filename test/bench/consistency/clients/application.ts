// The ways in which applications use a database: with a pool or without, each by its own driver.
import type { ServerTls } from '../../../support/patroni/settings.ts';

export interface DatabaseSession {
  /** Another one for each connection. */
  readonly name: string;
  /** The first column of the first row as text. */
  value(statement: string): Promise<string>;
  /** Between BEGIN and COMMIT; the value of the last statement. */
  transaction(statements: readonly string[], steps: Steps): Promise<string>;
}

/** Called before the last statement of a transaction is sent, and before its COMMIT is sent. */
export interface Steps {
  readonly sending: () => void;
  readonly committing: () => void;
}

export interface Application {
  readonly name: string;
  /** With a session that nobody else uses meanwhile. */
  use<T>(work: (session: DatabaseSession) => Promise<T>): Promise<T>;
  stop(): Promise<void>;
}

export interface Target {
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  /** Undefined: in plain text. */
  readonly ssl: ServerTls | undefined;
}

/** The SQLSTATE in an error of any driver; undefined: no server said it. */
export function sqlstateOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const code = 'code' in error ? error.code : 'state' in error ? error.state : undefined;
  // `EPIPE` has five letters, too.
  return typeof code === 'string' && /^(?=.*\d)[0-9A-Z]{5}$/.test(code) ? code : undefined;
}

/** For drivers without transactions of their own. */
export async function transact(
  session: Pick<DatabaseSession, 'value'> & { run(statement: string): Promise<void>; commit(): Promise<void> },
  statements: readonly string[],
  { sending, committing }: Steps,
): Promise<string> {
  const [...before] = statements;
  const last = before.pop() ?? '';
  await session.run('begin');
  for (const statement of before) await session.run(statement);
  sending();
  const value = await session.value(last);
  committing();
  await session.commit();
  return value;
}
