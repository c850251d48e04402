// Programs that use libpq: psycopg2 with sessions that are kept, and psql with one for each transaction.
import { tmpdir } from 'node:os';
import { whyNoTool } from '../../../support/applications/client-tools.ts';
import type { DrivenSession, RunningProgram } from '../../../support/moves/driven-session.ts';
import { programs } from '../../../support/moves/programs.ts';
import type { Credentials } from '../../../support/patroni/settings.ts';
import { type Application, type DatabaseSession, transact } from './application.ts';

let sessions = 0;

function sessionOf(driven: DrivenSession): DatabaseSession {
  const value = (statement: string): Promise<string> => driven.value(statement);
  const run = (statement: string): Promise<void> => driven.run(statement);
  // Neither program tells what the server answered. Every statement before it has succeeded.
  const commit = (): Promise<void> => driven.run('commit');
  return {
    name: driven.name,
    value,
    transaction: (statements, steps) => transact({ value, run, commit }, statements, steps),
  };
}

/** Undefined: the machine does not have it. `isKept`: the session stays open until an error. */
export function libpqProgram(
  program: 'psql' | 'psycopg2',
  as: Credentials,
  port: number,
  isKept: boolean,
): Application | undefined {
  const known = programs().find(({ name }) => name === program);
  if (known === undefined || known.missing !== undefined || whyNoTool('psql') !== undefined) return undefined;
  const start = (): RunningProgram =>
    known.start(tmpdir(), { port, as, ...(as.ssl === undefined && { sslmode: 'disable' }) });
  let running: RunningProgram | undefined;
  let open: DrivenSession | undefined;
  const end = async (): Promise<void> => {
    const ending = running;
    running = undefined;
    open = undefined;
    await ending?.stop();
  };
  return {
    name: `${program}, ${isKept ? 'one kept session' : 'a session for each transaction'}`,
    async use(work) {
      try {
        running ??= start();
        open ??= await running.open(`libpq-${(sessions += 1)}`);
        return await work(sessionOf(open));
      } catch (error) {
        await end();
        throw error;
      } finally {
        if (!isKept) await end();
      }
    },
    stop: end,
  };
}
