// The commands that show a running Pointsman. Each is loaded when it is used.
import type { Command } from 'commander';
import { examples } from '../examples.ts';
import type { CliIo } from '../io.ts';
import type { StatusCommandOptions } from './status.ts';

const STATUS_HELP = `
Exit codes: 0 every pool has a member to route to (with --pool: this pool), 1 one has none, or there is no answer,
2 wrong usage.`;

/** `remote` creates a command with the options that locate a running Pointsman. */
export function describeStatus(
  remote: (name: string, description: string) => Command,
  io: CliIo,
  end: (code: number) => void,
): void {
  remote('status', 'Show the cluster, its members, the pools, sessions and waiting clients on one screen')
    .option('--pool <name>', 'only this pool')
    .option('--why', "also the evidence for each member's place in each pool")
    .option('--json', 'print the document of /status')
    .addHelpText('after', STATUS_HELP)
    .addHelpText('after', examples('pointsman status', 'pointsman status --pool read --why'))
    .action(async (options: StatusCommandOptions) => end(await (await import('./status.ts')).status(options, io)));
}
