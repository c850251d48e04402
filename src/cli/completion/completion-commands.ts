// `pointsman completion`, and the hidden command that the shells call for each word.
import { Argument } from 'commander';
import type { CliCommand } from '../cli-command.ts';
import type { CliIo } from '../io.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

const HELP = `
Completes commands, options, choices and files, and the names of pools, members and branches of the running Pointsman.
A new shell reads the script from these places; \`pointsman\` must be in the PATH.`;

export function describeCompletion(program: CliCommand, io: CliIo): void {
  program
    .command('completion')
    .description('Print the script that completes commands in a shell')
    .addArgument(new Argument('<shell>', 'name of the shell').choices(SHELLS))
    .addHelpText('after', HELP)
    .examples(
      'pointsman completion bash > /etc/bash_completion.d/pointsman',
      'pointsman completion zsh > /usr/local/share/zsh/site-functions/_pointsman',
      'pointsman completion fish > ~/.config/fish/completions/pointsman.fish',
    )
    .action(async (shell: Shell) => {
      io.stdout((await import('./scripts.ts')).SCRIPTS[shell]);
    });
  program
    .command('__complete', { hidden: true })
    .argument('[words...]')
    .action(async (words: readonly string[]) => {
      io.stdout(await (await import('./complete.ts')).complete(program, words, io));
    });
}
