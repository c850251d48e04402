// The commands that change a running Pointsman: `refresh`, `reload`, `accept`. They send the admin token of
// the same configuration.
import { Argument } from 'commander';
import type { z } from 'zod';
import type { CliCommand } from './cli-command.ts';
import { REFUSAL_KINDS } from '../core/snapshot.ts';
import { accepted, reloaded } from '../documents/action-answers.ts';
import { looseReader, type Loose } from '../documents/loose-reader.ts';
import { EXIT, type CliIo } from './io.ts';
import { reportFailure, requestWithToken } from './admin-request.ts';
import { asJson } from './json.ts';
import { findRunning, type RunningOptions } from './running.ts';
import { poolsText } from './pools-text.ts';

export function describeOperations(program: CliCommand, io: CliIo): void {
  program
    .remote('refresh', 'Probe all members now, and show what each of them said')
    .option('--json', 'print JSON')
    .examples('pointsman refresh')
    .runs(async (options: RunningOptions) => (await import('./refresh.ts')).refresh(options, io));
  program
    .remote('reload', 'Reload the configuration, as SIGHUP does, and print the changes')
    .option('--json', 'print JSON')
    .examples('pointsman reload -c /etc/pointsman/pointsman.yaml')
    .runs(async (options: RunningOptions) => operate('/reload', options, io, looseReader(reloaded), reloadedText));
  program
    .remotes('accept', 'Accept a refused primary; without an argument, show which primaries are refused')
    .addArgument(
      new Argument('[what]', 'reason of the refusal').choices(REFUSAL_KINDS.map((kind) => kind.replace('_', '-'))),
    )
    .option('--json', 'print JSON')
    .addHelpText('after', ACCEPT_HELP)
    .examples('pointsman accept', 'pointsman accept timeline')
    .runs(async (what: string | undefined, options: RunningOptions) => {
      const [{ showRefused }, { atEach }] = await Promise.all([import('./accept.ts'), import('./several.ts')]);
      return await atEach(options, io, async (one, own) =>
        what === undefined
          ? await showRefused(one, own)
          : await operate(`/accept/${what}`, one, own, looseReader(accepted), acceptedText),
      );
    });
}

const ACCEPT_HELP = `
  timeline          the primary's timeline is lower than that of an earlier primary
  cluster-identity  the primary reports another system identifier, or none, under the same cluster name

An accepted primary receives writes. Accept it only if its data is the data you want: after a restore, a new bootstrap
or an upgrade. Without an argument nothing changes.
Exit codes: 0 accepted, or the list is shown; 1 nothing to accept, or a failure; 2 wrong usage.`;

async function operate<Document>(
  path: string,
  options: RunningOptions,
  io: CliIo,
  reader: z.ZodType<Document>,
  textOf: (document: Document) => string,
): Promise<number> {
  const answer = await requestWithToken(findRunning(options, io), { method: 'POST', path }, io);
  const { data } = reader.safeParse(answer.body);
  if (answer.status !== 200 || data === undefined) return reportFailure(answer, io);
  io.stdout(options.json === true ? asJson(answer.body) : textOf(data));
  return EXIT.ok;
}

function reloadedText({ changed, needs_restart: needsRestart, warnings }: Loose<z.infer<typeof reloaded>>): string {
  const lines = [
    ...(changed.length === 0 ? ['no changes'] : changed),
    ...needsRestart.map((change) => `needs a restart: ${change}`),
    ...warnings.map((warning) => `warning: ${warning}`),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function acceptedText({ member, accepted: what, pools }: Loose<z.infer<typeof accepted>>): string {
  return `${member} accepted as primary with ${what}\n${poolsText(pools)}`;
}
