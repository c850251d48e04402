// `pointsman skill …` on the command line. Each command is loaded when it is used.
import type { CliCommand } from '../../cli/cli-command.ts';
import type { CliIo } from '../../cli/io.ts';
import type { PlatformParts } from '../platform-context.ts';
import { withMessageOptions } from '../message-options.ts';
import type { CheckSkillOptions } from './check-skill.ts';
import type { PublishOptions } from './publish.ts';
import type { SkillRequestOptions } from './skill-request.ts';
import type { DeleteSkillOptions, StoredOptions } from './stored-skills.ts';

const HELP = `
A skill is a folder with SKILL.md, which a model reads when it needs it. deploy/skills/pointsman-runbook is the runbook
of Pointsman. The platform is that of the section platform in the configuration. Only these commands talk to it.`;

const CHECK_HELP = `
The rules: SKILL.md with front matter (name, description), a name of a-z, 0-9 and hyphens, links that lead to a file of
the folder, no symbolic link, no hidden file, no key, no password. Nothing is sent.
Exit codes: 0 the folder can be published, 1 it breaks a rule or cannot be read, 2 wrong usage.`;

const PUBLISH_HELP = `
A folder that was published with this content is not sent again. With another content it gets a new version, and
--create makes a new skill. The name of a skill never changes. The record of published skills is skills.json in
$XDG_STATE_HOME/pointsman; a job of CI keeps it with --record FILE, or names the skill with --skill-id.
An upload is sent once: if its answer gets lost, look before you repeat it.`;

const REQUEST_HELP = `
Prints the headers and the body of a message request with the skill, and sends nothing: the path of message creation
belongs to your platform. VERSION is latest by default. The key is not printed.`;

const ID = 'its id (skill_…), or its name if it was published from here';

export function describeSkill(program: CliCommand, io: CliIo, parts: PlatformParts): void {
  const skill = program
    .command('skill')
    .description('Check and publish a skill: a folder that tells a model how to operate the cluster')
    .addHelpText('after', HELP)
    .examples('pointsman skill check deploy/skills/pointsman-runbook');
  describePublishing(skill, io, parts);
  describeReading(skill, io, parts);
  describeDelete(skill, io, parts);
}

function describePublishing(skill: CliCommand, io: CliIo, parts: PlatformParts): void {
  skill
    .command('check')
    .description('Check the folder of a skill')
    .argument('<directory>', 'the folder with SKILL.md')
    .option('--json', 'print JSON')
    .addHelpText('after', CHECK_HELP)
    .examples('pointsman skill check deploy/skills/pointsman-runbook')
    .runs(async (directory: string, options: CheckSkillOptions) =>
      (await import('./check-skill.ts')).checkSkill(directory, options, io),
    );
  stored(skill, 'publish', 'Upload the folder of a skill, if its content is new')
    .argument('<directory>', 'the folder with SKILL.md')
    .option('--create', 'make a new skill')
    .option('--skill-id <id>', 'add a version to this skill')
    .addHelpText('after', PUBLISH_HELP)
    .examples(
      'pointsman skill publish deploy/skills/pointsman-runbook --create',
      'pointsman skill publish deploy/skills/pointsman-runbook',
    )
    .runs(async (directory: string, options: PublishOptions) =>
      (await import('./publish.ts')).publishSkill(directory, options, io, parts),
    );
}

function stored(parent: CliCommand, name: string, description: string): CliCommand {
  return parent
    .command(name)
    .description(description)
    .option('-c, --config <file>', 'the configuration file (YAML) with the section platform')
    .option('--record <file>', 'the record of published skills')
    .option('--json', 'print JSON');
}

function describeReading(skill: CliCommand, io: CliIo, parts: PlatformParts): void {
  stored(skill, 'list', 'List the skills of the platform')
    .examples('pointsman skill list')
    .runs(async (options: StoredOptions) => (await import('./stored-skills.ts')).listSkills(options, io, parts));
  stored(skill, 'show', 'Show one skill')
    .argument('<skill>', ID)
    .examples('pointsman skill show pointsman-runbook')
    .runs(async (wanted: string, options: StoredOptions) =>
      (await import('./stored-skills.ts')).showSkill(wanted, options, io, parts),
    );
  stored(skill, 'versions', 'List the versions of a skill')
    .argument('<skill>', ID)
    .examples('pointsman skill versions pointsman-runbook')
    .runs(async (wanted: string, options: StoredOptions) =>
      (await import('./stored-skills.ts')).listVersions(wanted, options, io, parts),
    );
  const request = skill
    .command('request')
    .description('Print a message request with a skill, and send nothing')
    .argument('<skill>', `${ID}; a version may follow a colon`)
    .option('-c, --config <file>', 'the configuration file (YAML) with the section platform')
    .option('--record <file>', 'the record of published skills');
  withMessageOptions(request)
    .addHelpText('after', REQUEST_HELP)
    .examples('pointsman skill request pointsman-runbook:latest --model vendor-opus-5 --max-tokens 4096')
    .runs(async (wanted: string, options: SkillRequestOptions) =>
      (await import('./skill-request.ts')).requestWithSkill(wanted, options, io),
    );
}

function describeDelete(skill: CliCommand, io: CliIo, parts: PlatformParts): void {
  stored(skill, 'delete', 'Delete a skill, or one version of it')
    .argument('<skill>', ID)
    .option('--version <version>', 'this version alone')
    .option('-y, --yes', 'ask no question')
    .examples('pointsman skill delete pointsman-runbook')
    .runs(async (wanted: string, options: DeleteSkillOptions) =>
      (await import('./stored-skills.ts')).deleteSkill(wanted, options, io, parts),
    );
}
