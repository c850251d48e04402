// `pointsman sandbox`: a whole cluster with Pointsman before it, and the second command that breaks it on purpose.
import { Option } from 'commander';
import type { Command } from 'commander';
import { EXIT } from './io.ts';
import type { AskSandbox, CliIo, SandboxParts, SandboxRequest } from './io.ts';

const CONTROL = '127.0.0.1:8433';

const HELP = `
Three real PostgreSQL servers with a small cluster manager beside each, and Pointsman before them, until Ctrl-C; for trying and
testing, not for data. In another terminal, while it runs:

  pointsman sandbox kill primary        what the death of a host leaves
  pointsman sandbox switchover
  pointsman sandbox heal
  pointsman sandbox sql "insert into visits default values returning *"`;

/** As commander gives them. */
type RunFlags = Omit<SandboxRequest, 'members'> & { readonly members: string };

/** The flag may stand on either side of the verb. */
function controlOf(command: Command): string {
  return command.optsWithGlobals<{ control: string }>().control;
}

export function describeSandbox(program: Command, io: CliIo, parts: SandboxParts, end: (code: number) => void): void {
  const sandbox = program
    .command('sandbox')
    .description('run a whole cluster to try things on, with Pointsman before it')
    .option('--members <n>', 'PostgreSQL servers, 1 to 9', '3')
    .option('--postgres <where>', 'embedded (from npm), system, or the directory of the binaries', 'embedded')
    .addOption(
      new Option('--dialect <name>', 'of the management API').choices(['manager', 'patroni']).default('manager'),
    )
    .option('--write <address>', 'listener of the write pool', '127.0.0.1:6432')
    .option('--read <address>', 'listener of the read pool', '127.0.0.1:6433')
    .option('--admin <address>', 'admin listener', '127.0.0.1:8432')
    .option('--control <address>', 'where the second command finds it; port 0 takes any', CONTROL)
    .addHelpText('after', HELP)
    .action(async (flags: RunFlags) => end(await runSandbox(flags, io, parts)));

  const told = async (answer: ReturnType<AskSandbox>): Promise<void> => {
    const { ok, text } = await answer;
    (ok ? io.stdout : io.stderr)(ok ? `${text}\n` : `pointsman: ${text}\n`);
    end(ok ? EXIT.ok : EXIT.failure);
  };
  for (const { name, target, summary } of parts.verbs) {
    const command = sandbox
      .command(name)
      .description(target === undefined ? summary : `${summary} (default: ${target})`);
    command
      .argument('[member]', target === undefined ? 'a member' : 'primary, replica or a member')
      .action((member: string | undefined) => told(parts.ask(controlOf(command), name, member)));
  }
  const sql = sandbox.command('sql').description('run a statement through Pointsman, for machines without psql');
  sql
    .argument('<statement>', 'SQL')
    .addOption(new Option('--pool <name>', 'through which pool').choices(['write', 'read']).default('write'))
    .action((statement: string, { pool }: { pool: 'write' | 'read' }) =>
      told(parts.sql(controlOf(sql), pool, statement)),
    );
}

async function runSandbox(flags: RunFlags, io: CliIo, parts: SandboxParts): Promise<number> {
  const members = Number(flags.members);
  if (!Number.isInteger(members) || members < 1 || members > 9) {
    io.stderr(`pointsman: --members must be a whole number from 1 to 9, not ${flags.members}\n`);
    return EXIT.usage;
  }
  for (const name of ['write', 'read', 'admin', 'control'] as const) {
    if (/^127(?:\.\d{1,3}){3}:\d{1,5}$|^\[::1\]:\d{1,5}$|^localhost:\d{1,5}$/.test(flags[name])) continue;
    const why = 'the sandbox has passwords that everybody knows, so it listens on loopback only';
    io.stderr(
      `pointsman: --${name} must be a loopback address with a port (127.0.0.1:6432), not ${flags[name]}: ${why}\n`,
    );
    return EXIT.usage;
  }
  return parts.run({ ...flags, members });
}
