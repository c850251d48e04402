// The commands that change a running Pointsman: `refresh`, `reload`, `accept`. They send the admin token of
// the same configuration.
import { Argument } from 'commander';
import type { CliCommand } from './cli-command.ts';
import { REFUSAL_KINDS } from '../core/snapshot.ts';
import { accepted, reloaded } from '../documents/action-answers.ts';
import { looseReader } from '../documents/loose-reader.ts';
import type { CliIo } from './io.ts';
import { operate, type OperateOptions } from './send-operation.ts';
import { poolsText } from './pools-text.ts';

const reloadedReader = looseReader(reloaded);
const acceptedReader = looseReader(accepted);

export function describeOperations(program: CliCommand, io: CliIo): void {
  program
    .remote('refresh', 'Probe all members now, and show what each of them said')
    .option('--json', 'print JSON')
    .examples('pointsman refresh')
    .runs(async (options: OperateOptions) => (await import('./refresh.ts')).refresh(options, io));
  program
    .remote('reload', 'Reload the configuration, as SIGHUP does, and print the changes')
    .option('--json', 'print JSON')
    .examples('pointsman reload -c /etc/pointsman/pointsman.yaml')
    .runs(async (options: OperateOptions) => operate('/reload', options, io, reloadedText));
  program
    .remote('accept', 'Accept a refused primary; without an argument, show which primaries are refused')
    .addArgument(
      new Argument('[what]', 'reason of the refusal').choices(REFUSAL_KINDS.map((kind) => kind.replace('_', '-'))),
    )
    .option('--json', 'print JSON')
    .addHelpText('after', ACCEPT_HELP)
    .examples('pointsman accept', 'pointsman accept timeline')
    .runs(async (what: string | undefined, options: OperateOptions) =>
      what === undefined
        ? await (await import('./accept.ts')).showRefused(options, io)
        : await operate(`/accept/${what}`, options, io, acceptedText),
    );
}

const ACCEPT_HELP = `
  timeline          the primary's timeline is lower than that of an earlier primary
  cluster-identity  the primary reports another system identifier, or none, under the same cluster name

An accepted primary receives writes. Accept it only if its data is the data you want: after a restore, a new bootstrap
or an upgrade. Without an argument nothing changes.
Exit codes: 0 accepted, or the list is shown; 1 nothing to accept, or a failure; 2 wrong usage.`;

function reloadedText(body: unknown): string | undefined {
  const { data } = reloadedReader.safeParse(body);
  if (data === undefined) return undefined;
  const { changed, needs_restart: needsRestart, warnings } = data;
  const lines = [
    ...(changed.length === 0 ? ['no changes'] : changed),
    ...needsRestart.map((change) => `needs a restart: ${change}`),
    ...warnings.map((warning) => `warning: ${warning}`),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function acceptedText(body: unknown): string | undefined {
  const { data } = acceptedReader.safeParse(body);
  return data && `${data.member} accepted as primary with ${data.accepted}\n${poolsText(data.pools)}`;
}
