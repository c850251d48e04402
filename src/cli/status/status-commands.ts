// The commands that show a running Pointsman. Each is loaded when it is used.
import { Option } from 'commander';
import { collected, type CliCommand } from '../cli-command.ts';
import type { EventsOptions } from '../events/follow-events.ts';
import type { CliIo } from '../io.ts';
import type { WaitOptions } from '../wait.ts';
import type { StatusCommandOptions } from './status.ts';
import type { WatchOptions } from './watch-status.ts';

const STATUS_HELP = `
With several addresses in --admin: the route of each pool at each Pointsman, so that a difference is seen.
Exit codes: 0 every pool has a member to route to (with --pool: this pool), 1 one has none, or there is no answer,
2 wrong usage.`;

export function describeStatus(program: CliCommand, io: CliIo): void {
  program
    .remotes('status', 'Show the cluster, its members, the pools, sessions and waiting clients on one screen')
    .option('--pool <name>', 'only this pool')
    .option('--why', "also the evidence for each member's place in each pool")
    .addOption(
      new Option('--watch [interval]', 'live, as `pointsman top` shows it (default: every second)').conflicts([
        'why',
        'json',
      ]),
    )
    .option('--json', 'print the document of /status')
    .addHelpText('after', STATUS_HELP)
    .examples('pointsman status', 'pointsman status --pool read --why')
    .runs(async (options: StatusCommandOptions) => (await import('./status.ts')).status(options, io));
  program
    .remote('top', 'Show the status live, with rates and the last events')
    .option('--pool <name>', 'only this pool')
    .option('--interval <duration>', 'time between two screens', '1s')
    .option('--count <n>', 'exit after N refreshes (default: q or Ctrl-C ends it)')
    .addHelpText('after', '\nWithout a terminal it prints one screen after another.')
    .examples('pointsman top', 'pointsman top --interval 5s --count 3 > top.txt')
    .runs(async (options: WatchOptions) => (await import('./watch-status.ts')).watchStatus(options, io));
  program
    .remote('events', 'Show the recent events of a running Pointsman, and with --follow the new ones')
    .option('-f, --follow', 'wait for new events until Ctrl-C; after a break it continues where it was')
    .option('--limit <n>', 'show at most N recent events (default: 100)')
    .option('--pool <name>', 'only events of this pool')
    .option('--member <name>', 'only events that name this member')
    .option('--event <names>', 'only these events, separated by commas')
    .addOption(new Option('--level <level>', 'only events of this level and above').choices(['info', 'warn', 'error']))
    .option('--json', 'print JSON; with --follow one document a line')
    .examples('pointsman events --limit 20', 'pointsman events --follow --pool write')
    .runs(async (options: EventsOptions) => (await import('../events/follow-events.ts')).events(options, io));
  program
    .remote('wait', 'Wait until pools can serve, also for the start of Pointsman itself')
    .option('--pool <name>', 'this pool; may be repeated (default: every pool)', collected)
    .option('--timeout <duration>', 'give up after this time, with exit code 1', '60s')
    .option('--json', 'print JSON')
    .option('--quiet', 'no output')
    .examples('pointsman wait --pool write --pool read --timeout 60s')
    .runs(async (options: WaitOptions) => (await import('../wait.ts')).wait(options, io));
}
