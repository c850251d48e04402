// `pointsman switchover`, as commander sees it.
import type { CliCommand } from '../cli-command.ts';
import type { CliIo } from '../io.ts';
import type { SwitchoverOptions } from './held-switchover.ts';

const HELP = `
The running Pointsman holds new clients of the primary, gives running transactions time to finish, ends the primary's
sessions between two transactions, asks the cluster to switch, and lets the clients go on with the next primary.
With the section moves in the configuration, sessions that can move do not end: they go on with the next primary.
It needs the admin token. Ctrl-C cancels, and all clients are released at once. When the cluster has the request, it
cannot be taken back: clients then wait until a primary is proven, and a second Ctrl-C releases them.
Another Pointsman in front of the same cluster does not hold its clients, unless with --fleet (or the setting fleet):
then the cluster schedules the switchover half a minute ahead, and each Pointsman holds its clients and parks its
sessions from hold.before_switchover (1s) before that time. Transactions that run then are cut when the primary stops.
It begins at once. \`pointsman cluster switchover --at TIME\` schedules one: each Pointsman holds its clients from
hold.before_switchover (1s) before that time.
Exit codes: 0 switched over, 1 refused, failed or cancelled, 2 wrong usage.`;

export function describeSwitchover(program: CliCommand, io: CliIo): void {
  program
    .remote('switchover', 'Move the primary to another member, while clients wait instead of failing')
    .option('--to <member>', 'the next primary (default: the cluster chooses)')
    .option('--transaction-timeout <duration>', 'time for running transactions before they are cut', '10s')
    .option('--fleet', 'every Pointsman of the cluster takes part: the cluster schedules the switchover')
    .option('--no-fleet', 'this Pointsman alone, whatever the setting fleet says')
    .option('--yes', 'do not ask')
    .option('--dry-run', 'only show the plan')
    .option('--json', 'print the document of the operation when it has ended (with --dry-run: the plan)')
    .addHelpText('after', HELP)
    .examples(
      'pointsman switchover --dry-run',
      'pointsman switchover --to pg-2 --yes',
      'pointsman switchover --fleet --dry-run',
      'pointsman switchover --to pg-1 --transaction-timeout 5s --yes',
    )
    .runs(async (options: SwitchoverOptions) => (await import('./held-switchover.ts')).switchover(options, io));
}
