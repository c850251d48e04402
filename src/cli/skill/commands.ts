// `pointsman skill …` on the command line. Each command is loaded when it is used.
import type { Command } from 'commander';
import { examples } from '../examples.ts';
import type { CliIo } from '../io.ts';
import type { CheckOptions } from './check.ts';

const HELP = `
A skill is a folder with SKILL.md, which a model reads when it needs it. deploy/skills/pointsman-runbook is the runbook
of Pointsman.`;

const CHECK_HELP = `
The rules: SKILL.md with front matter (name, description), a name of a-z, 0-9 and hyphens, links that lead to a file of
the folder, no symbolic link, no hidden file, no key, no password. Nothing is sent.
Exit codes: 0 the folder can be published, 1 it breaks a rule or cannot be read, 2 wrong usage.`;

export function describeSkill(program: Command, io: CliIo, end: (code: number) => void): void {
  const skill = program
    .command('skill')
    .description('Check a skill: a folder that tells a model how to operate the cluster')
    .addHelpText('after', HELP)
    .addHelpText('after', examples('pointsman skill check deploy/skills/pointsman-runbook'));
  skill
    .command('check')
    .description('Check the folder of a skill')
    .argument('<directory>', 'the folder with SKILL.md')
    .option('--json', 'print JSON')
    .addHelpText('after', CHECK_HELP)
    .addHelpText('after', examples('pointsman skill check deploy/skills/pointsman-runbook'))
    .action(async (directory: string, options: CheckOptions) =>
      end(await (await import('./check.ts')).checkSkill(directory, options, io)),
    );
}
