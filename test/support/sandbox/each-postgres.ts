// The tests of a file on each PostgreSQL that this machine has, with one server for all of them.
import { afterAll, beforeAll, describe } from 'vitest';
import type { BinariesChoice } from '../../../src/sandbox/postgres/binaries.ts';
import { missingForSandbox } from '../runner/sandbox-availability.ts';
import { describeUnless } from '../runner/unless-missing.ts';
import { WireClient } from '../sockets/wire-client.ts';
import type { LoginServer } from './login-server.ts';
import { choicesHere } from './postgres.ts';

/** A session of the role `app`, unless the startup names another one. */
type LogIn = (startup?: Readonly<Record<string, string>>) => Promise<WireClient>;

const CHOICES = await choicesHere();

/** `tests` only registers tests: the server is there when they run. */
export function describeOnEachPostgres(
  title: string,
  start: (choice: BinariesChoice) => Promise<LoginServer>,
  tests: (lab: LoginServer, logIn: LogIn) => void,
): void {
  describeUnless(missingForSandbox, title, () => {
    describe.each(CHOICES)('on PostgreSQL %s', (choice) => {
      let started: LoginServer | undefined;
      const running = (): LoginServer => {
        if (started === undefined) throw new Error('the server has not started');
        return started;
      };
      const lab: LoginServer = {
        get server() {
          return running().server;
        },
        run: (...statements) => running().run(...statements),
        permit: (...lines) => running().permit(...lines),
        get caFile() {
          return running().caFile;
        },
        close: () => running().close(),
      };

      beforeAll(async () => {
        started = await start(choice);
      }, 60_000);

      afterAll(() => started?.close());

      tests(lab, (startup) => WireClient.connect(lab.server, { user: 'app', database: 'postgres', ...startup }));
    });
  });
}
