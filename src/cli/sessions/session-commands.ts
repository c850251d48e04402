// The commands about sessions: list them, end them, and move them off a member. Each is loaded when it is used.
import { Option } from 'commander';
import { duration, type CliCommand } from '../cli-command.ts';
import { SESSION_SORTS } from '../../reports/session-list.ts';
import { SESSION_STATES } from '../../reports/session-state.ts';
import type { CliIo } from '../io.ts';
import type { ConsentOptions } from '../running.ts';
import type { DrainOptions } from './drain.ts';
import type { MoveOptions } from './move.ts';
import type { ListSessionsOptions } from './sessions-command.ts';

const STATES = SESSION_STATES.filter((state) => state !== 'closed');

const SESSIONS_HELP = `
The list needs the admin token, because it names users and addresses. STATE is idle, busy (a request has no complete
answer), in transaction or failed transaction for a session with a member; SINCE is the time in the state that --state
knows. A session that is parked or moving has left the member before the arrow, and SINCE is the time since then. IN has
the bytes from the client, OUT those to it; \`--sort bytes\` is by their sum. A wide terminal shows more columns, --json
shows all. With several addresses in --admin the table has the sessions of each, and --limit counts for each.
Exit codes: 0 success, 1 failure, or a worker or a Pointsman did not answer, 2 wrong usage.`;

const KILL_HELP = `
The client reads an error with SQLSTATE 57P01; a transaction is rolled back. A statement that runs is cancelled if the
stream can be read; inside TLS with its server it runs until the server notices that the client is gone.
Exit codes: 0 success, 1 a session could not be ended or no longer exists, 2 wrong usage.`;

const MOVE_HELP = `
Each session goes to a server of its pool, as \`moves\` in the configuration allows; it may be the same server. One that
is in a statement or in a transaction moves at its end, for which the command waits as long as \`moves.wait\`. With
--abort a transaction that is still open then is rolled back: the client reads SQLSTATE 40001, and keeps its session.
A session that cannot move stays as it is, with the reason, or ends if its transaction was rolled back.
Exit codes: 0 every session moved, 1 a session stayed, ended or no longer exists, 2 wrong usage.`;

const DRAIN_HELP = `
Live sessions leave between two transactions, and after drain_timeout in any case: they end or move, as
on_leave.operator says. If the member is the primary, its clients wait until it is resumed or another primary is proven,
so the command asks first. Ctrl-C during --wait leaves the member drained. With several addresses in --admin the command
shows the effect at each Pointsman, asks once, and goes on with those that answer.
Exit codes: 0 success, 1 failure, sessions remain at the timeout, or a Pointsman did not answer, 2 wrong usage.`;

export function describeSessions(program: CliCommand, io: CliIo): void {
  const list = program
    .remotes('sessions', 'List the live sessions, the oldest first unless --sort says otherwise')
    .option('--pool <name>', 'only this pool')
    .option('--member <name>', 'only sessions on this member, on their way to it, or parked since they left it')
    .option('--client <address>', 'only this client: ADDRESS or ADDRESS:PORT')
    .addOption(new Option('--state <state>', 'only this state').choices(STATES))
    .addOption(new Option('--sort <column>', 'the largest first (default: age)').choices(SESSION_SORTS))
    .option('--limit <n>', 'show at most N sessions (default: 100, at most 1000)')
    .option('--json', 'print JSON')
    .addHelpText('after', SESSIONS_HELP)
    .examples('pointsman sessions --sort bytes --limit 10', 'pointsman sessions --pool write --state holding')
    .runs(async (options: ListSessionsOptions) => (await import('./sessions-command.ts')).sessions(options, io));
  list
    .remote('move', 'Move sessions to a server of their pool; their clients notice nothing')
    .argument('<session...>', 'ids, as `pointsman sessions` shows them')
    .option('--abort', 'roll back a transaction that is still open after moves.wait')
    .option('--json', 'print JSON')
    .addHelpText('after', MOVE_HELP)
    .examples('pointsman sessions move 17', 'pointsman sessions move 17 18 --abort')
    .runs(async (ids: readonly string[], _: unknown, command: CliCommand) =>
      (await import('./move.ts')).move(ids, command.optsWithGlobals<MoveOptions>(), io),
    );
  program
    .remote('kill', 'End sessions by their ids')
    .argument('<session...>', 'ids, as `pointsman sessions` shows them')
    .option('--yes', 'do not ask')
    .option('--dry-run', 'only show the sessions')
    .option('--json', 'print JSON; it asks no question, so add --yes or --dry-run')
    .addHelpText('after', KILL_HELP)
    .examples('pointsman kill 17', 'pointsman kill 17 18 --dry-run')
    .runs(async (ids: readonly string[], options: ConsentOptions) =>
      (await import('./kill.ts')).kill(ids, options, io),
    );
  describeDrains(program, io);
}

function describeDrains(program: CliCommand, io: CliIo): void {
  program
    .remotes('drain', 'Take a member out of all pools until it is resumed or Pointsman restarts')
    .argument('<member>', 'name of the member')
    .option('--wait', 'wait until no session is left on it')
    .addOption(
      new Option('--timeout <duration>', 'stop waiting after this time; the member stays drained')
        .argParser(duration)
        .implies({ wait: true }),
    )
    .option('--yes', 'do not ask')
    .option('--dry-run', 'only show the effect')
    .option('--json', 'print JSON')
    .addHelpText('after', DRAIN_HELP)
    .examples('pointsman drain pg-2', 'pointsman drain pg-2 --wait --timeout 5min')
    .runs(async (member: string, options: DrainOptions) => {
      const [{ drain }, { atEach }] = await Promise.all([import('./drain.ts'), import('../several.ts')]);
      return await atEach(options, io, async (one, own) => drain(member, one, own), `Drain ${member}`);
    });
  program
    .remotes('resume', 'Undo a drain')
    .argument('<member>', 'name of the member')
    .option('--dry-run', 'only show the effect')
    .option('--json', 'print JSON')
    .examples('pointsman resume pg-2')
    .runs(async (member: string, options: DrainOptions) => {
      const [{ resume }, { atEach }] = await Promise.all([import('./drain.ts'), import('../several.ts')]);
      return await atEach(options, io, async (one, own) => resume(member, one, own));
    });
}
