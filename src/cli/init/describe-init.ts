// The options of `pointsman init`. The command itself is loaded when it is used.
import { Option } from 'commander';
import type { CliCommand } from '../cli-command.ts';
import type { CliIo } from '../io.ts';
import type { CheckSeeds } from '../live-check.ts';
import type { InitOptions } from './init.ts';
import type { SourceKind } from './read-sources.ts';

const KINDS: readonly SourceKind[] = ['cluster', 'haproxy', 'patroni', 'libpq'];

const HELP = `
SOURCE is one of these; its content tells which:
  http://10.0.0.11:8008                     the management API of a member (may be given several times)
  /etc/haproxy/haproxy.cfg                  HAProxy in front of Patroni
  /etc/patroni/patroni.yml                  a member's own file
  "postgresql://app@pg1,pg2/app"            a connection string of libpq or JDBC, also "host=pg1,pg2 dbname=app"

The file has only the keys that differ from their defaults. The cluster is contacted to complete and check it: its name,
more seeds, the addresses in cluster.allow, and backend.tls where the authority of --ca or of SOURCE verifies all
members. Passwords are never read. The report goes to standard error, or to standard output with -o.
Exit codes: 0 written and checked; 1 the live check failed (the file is written), or FILE exists; 2 wrong usage, or a
source that cannot be read.

Example:
  pointsman init --from http://10.0.0.11:8008`;

export function describeInit(program: CliCommand, io: CliIo, checkSeeds: CheckSeeds): void {
  program
    .command('init')
    .description('Generate a minimal configuration from an API, haproxy.cfg, patroni.yml or connection string')
    .requiredOption('--from <source...>', 'where to start from')
    .addOption(new Option('--kind <kind>', 'the kind of SOURCE, if its content does not tell').choices(KINDS))
    .option('-o, --output <file>', 'write to this file instead of standard output')
    .option('--force', 'overwrite the file')
    .option('--offline', 'contact nothing')
    .option('--api-port <port>', 'port of the management API where SOURCE does not have it', '8008')
    .option('--ca <file>', 'PEM file of the authority of the certificates: members, and https APIs')
    .addHelpText('after', HELP)
    .runs(async (options: InitOptions) => (await import('./init.ts')).init(options, io, checkSeeds));
}
