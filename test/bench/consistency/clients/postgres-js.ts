// postgres.js with its own pool; its statements are prepared.
import { type ChildProcess, fork } from 'node:child_process';
import { ProgramError } from '../../../support/moves/driven-session.ts';
import type { Application, DatabaseSession, Steps, Target } from './application.ts';
import { AUTHORITY, postgresJsAnswer } from './postgres-js-messages.ts';

const MAIN = new URL('postgres-js-main.ts', import.meta.url);

interface Asked extends PromiseWithResolvers<string> {
  /** Undefined: no transaction of several statements. */
  readonly steps: Steps | undefined;
}

/** An application has a process of its own, which starts anew when it ended. */
export function postgresJs({ port, user, password, database, ssl }: Target): Application {
  const env = {
    PGPORT: String(port),
    PGUSER: user,
    PGPASSWORD: password,
    PGDATABASE: database,
    [AUTHORITY]: ssl?.ca ?? '',
  };
  const asked = new Map<number, Asked>();
  let lastId = 0;
  let session = '';
  let child: ChildProcess | undefined;

  const start = (): ChildProcess => {
    const started = fork(MAIN, [], { env: { ...process.env, ...env }, stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
    started.on('message', (message) => take(message));
    // A process that is gone is told by its end.
    started.on('error', () => undefined);
    started.once('exit', (code) => {
      if (child === started) child = undefined;
      for (const { reject } of asked.values()) reject(new Error(`the process of postgres.js ended with ${code}`));
      asked.clear();
    });
    return started;
  };
  const take = (message: unknown): void => {
    const answer = postgresJsAnswer.parse(message);
    const waiting = asked.get(answer.id);
    if (answer.kind === 'sending' || answer.kind === 'committing') {
      waiting?.steps?.[answer.kind]();
      return;
    }
    asked.delete(answer.id);
    if (answer.kind === 'error') {
      waiting?.reject(new ProgramError(answer.state, answer.words));
      return;
    }
    session = `postgres.js ${answer.session}`;
    waiting?.resolve(answer.value);
  };
  const ask = (statements: readonly string[], steps?: Steps): Promise<string> => {
    child ??= start();
    const id = (lastId += 1);
    const waiting = { ...Promise.withResolvers<string>(), steps };
    asked.set(id, waiting);
    child.send({ id, statements, isTransaction: steps !== undefined });
    return waiting.promise;
  };
  const only: DatabaseSession = {
    get name() {
      return session;
    },
    value: (statement) => ask([statement]),
    transaction: ask,
  };
  return {
    name: 'postgres.js, its own pool until an error',
    use: (work) => work(only),
    async stop() {
      child?.disconnect();
    },
  };
}
