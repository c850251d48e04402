// `pointsman sandbox`: runs a whole cluster behind Pointsman, and the verbs that break and repair it.
import { Option } from 'commander';
import type { CliCommand } from './cli-command.ts';
import { closest } from '../config/closest.ts';
import { SKILL_DIALECTS } from '../model/skill-dialect.ts';
import { wrong } from './command-end.ts';
import { EXIT, type CliIo, type SandboxAnswer, type SandboxParts, type SandboxRequest } from './io.ts';

const CONTROL = '127.0.0.1:8433';

const HELP = `
Runs three real PostgreSQL servers, a small cluster manager for each, and Pointsman in front, until Ctrl-C. For trying
and testing, not for data. While it runs, its verbs and the other commands work in another terminal.`;

/** In the form commander returns them. */
type RunFlags = Omit<SandboxRequest, 'members' | 'isUsualControl'> & { readonly members: string };

type Finish = (answer: Promise<SandboxAnswer>) => Promise<number>;

function controlOf(command: CliCommand): string {
  return command.optsWithGlobals<{ control: string }>().control;
}

export function describeSandbox(program: CliCommand, io: CliIo, parts: SandboxParts): void {
  const sandbox = program
    .command('sandbox')
    .description('Run a local test cluster behind Pointsman')
    .option('--members <n>', 'number of PostgreSQL servers, 1 to 9', '3')
    .option('--postgres <where>', 'embedded (from npm), system, or a directory with the binaries', 'embedded')
    .addOption(dialectOption())
    .option('--moves', 'sessions of the application go on at the next primary')
    .option('--causal-reads', 'reads of replicas see every acknowledged write; sessions move where one is late')
    .addOption(tlsOption())
    .addOption(branchesOption())
    .addOption(platformOption())
    .option('--write <address>', 'address of the write pool', '127.0.0.1:6432')
    .option('--read <address>', 'address of the read pool', '127.0.0.1:6433')
    .option('--admin <address>', 'admin address', '127.0.0.1:8432')
    .option('--control <address>', 'address for the verbs; port 0 picks a free one', CONTROL)
    .addHelpText('after', HELP)
    .examples(
      'pointsman sandbox',
      'pointsman sandbox --moves',
      'pointsman sandbox --causal-reads',
      'pointsman sandbox --tls',
      'pointsman sandbox --branches',
      'pointsman sandbox --platform',
      'pointsman sandbox kill primary',
      'pointsman sandbox switchover',
      'pointsman sandbox heal',
      'pointsman sandbox traffic',
      'pointsman sandbox config > second.yaml',
      'pointsman sandbox sql "insert into visits default values returning *"',
    )
    .allowExcessArguments()
    // `--control` is allowed behind the verb, too.
    .enablePositionalOptions(false)
    .runs(async (flags: RunFlags, command: CliCommand) => {
      const [verb] = command.args;
      if (verb !== undefined)
        command.error(unknownVerb(verb, [...parts.verbs.map(({ name }) => name), 'sql', 'config']));
      return runSandbox(flags, io, parts);
    });

  const finish: Finish = async (answer) => {
    const { ok, isUnknown = false, text } = await answer;
    (ok ? io.stdout : io.stderr)(ok ? `${text}\n` : `pointsman: ${text}\n`);
    return ok ? EXIT.ok : isUnknown ? EXIT.usage : EXIT.failure;
  };
  for (const { name, target, alone = false, summary } of parts.verbs) {
    const command = sandbox
      .command(name)
      .description(target === undefined ? summary : `${summary} (default: ${target})`);
    if (alone) command.allowExcessArguments(false);
    else command.argument('[member]', target === undefined ? 'a member' : 'primary, replica or a member');
    command
      .examples(['pointsman sandbox', name, target].filter(Boolean).join(' '))
      .runs((member: unknown) =>
        finish(parts.ask(controlOf(command), name, typeof member === 'string' ? member : undefined)),
      );
  }
  describeQuestions(sandbox, parts, finish);
}

function dialectOption(): Option {
  return new Option(
    '--dialect <name>',
    'how the management API answers: manager is strict and refuses what it cannot parse, so mistakes show; ' +
      'patroni answers as Patroni 4.1 does',
  )
    .choices(['manager', 'patroni'])
    .default('manager');
}

function tlsOption(): Option {
  return new Option(
    '--tls',
    'clients, members and their replication use TLS alone, with certificates of an authority that the sandbox makes',
  ).conflicts('branches');
}

function branchesOption(): Option {
  return new Option(
    '--branches [source]',
    'branches of the cluster, each a PostgreSQL server; their list comes from a storage node or a console',
  )
    .choices(['storage', 'console'])
    .preset('storage');
}

function platformOption(): Option {
  return new Option(
    '--platform [dialect]',
    'a model platform that stores skills and files, without a model; how it names versions of skills',
  )
    .choices(SKILL_DIALECTS)
    .preset('general');
}

/** The commands to a running sandbox: its configuration, and a statement. */
function describeQuestions(sandbox: CliCommand, parts: SandboxParts, finish: Finish): void {
  const config = sandbox
    .command('config')
    .description('Print a configuration for a second Pointsman before the cluster');
  config.examples('pointsman sandbox config > second.yaml').runs(() => finish(parts.config(controlOf(config))));
  const sql = sandbox.command('sql').description('Run a statement through Pointsman (psql is not needed)');
  sql
    .argument('<statement>', 'SQL')
    .addOption(new Option('--pool <name>', 'pool to use').choices(['write', 'read']).default('write'))
    .examples('pointsman sandbox sql --pool read "select count(*) from visits"')
    .runs((statement: string, { pool }: { pool: 'write' | 'read' }) =>
      finish(parts.sql(controlOf(sql), pool, statement)),
    );
}

function unknownVerb(verb: string, known: readonly string[]): string {
  const meant = closest(verb, known);
  const all = `Verbs: ${known.join(', ')}`;
  return `error: unknown verb '${verb}'\n${meant === undefined ? '' : `(Did you mean ${meant}?)\n`}${all}`;
}

async function runSandbox(flags: RunFlags, io: CliIo, parts: SandboxParts): Promise<number> {
  const members = Number(flags.members);
  if (!Number.isInteger(members) || members < 1 || members > 9)
    return wrong(io, `--members must be an integer from 1 to 9, not ${flags.members}`);
  for (const name of ['write', 'read', 'admin', 'control'] as const) {
    if (/^127(?:\.\d{1,3}){3}:\d{1,5}$|^\[::1\]:\d{1,5}$|^localhost:\d{1,5}$/.test(flags[name])) continue;
    const why = 'the sandbox uses public passwords, so it listens only on loopback';
    return wrong(io, `--${name} must be a loopback address with a port (127.0.0.1:6432), not ${flags[name]}: ${why}`);
  }
  return parts.run({ ...flags, members, isUsualControl: flags.control === CONTROL });
}
