// The commands that change a running Pointsman: `refresh`, `reload`, `drain`, `resume`, `accept`. They send the admin
// token of the same configuration.
import { Argument } from 'commander';
import type { Command } from 'commander';
import { z } from 'zod';
import { REFUSAL_KINDS } from '../core/snapshot.ts';
import type { RefusalKind } from '../core/snapshot.ts';
import { showRefused } from './accept.ts';
import { examples } from './examples.ts';
import { EXIT } from './io.ts';
import type { CliIo } from './io.ts';
import { request } from './request.ts';
import { findRunning, tokenFor } from './running.ts';
import type { RunningOptions } from './running.ts';

const failed = z.object({ error: z.string(), problems: z.array(z.string()).default([]) });
const reloaded = z.object({
  changed: z.array(z.string()),
  needs_restart: z.array(z.string()),
  warnings: z.array(z.string()),
});
const refreshed = z.object({ merged: z.boolean() });
const accepted = z.object({ member: z.string(), accepted: z.string(), pools: z.record(z.string(), z.string()) });
const drained = z.object({
  member: z.string(),
  drained: z.boolean(),
  was_drained: z.boolean().optional(),
  pools: z.record(z.string(), z.string()),
});

/** `remote` creates a command with the options that locate a running Pointsman. */
export function describeOperations(
  remote: (name: string, description: string) => Command,
  io: CliIo,
  end: (code: number) => void,
): void {
  remote('refresh', 'Probe all members now')
    .addHelpText('after', examples('pointsman refresh'))
    .action(async (options: RunningOptions) => end(await operate('/refresh', options, io, refreshedText)));
  remote('reload', 'Reload the configuration, as SIGHUP does, and print the changes')
    .addHelpText('after', examples('pointsman reload -c /etc/pointsman/pointsman.yaml'))
    .action(async (options: RunningOptions) => end(await operate('/reload', options, io, reloadedText)));
  remote('drain', 'Take a member out of all pools until it is resumed or Pointsman restarts')
    .argument('<member>', 'name of the member')
    .addHelpText('after', examples('pointsman drain pg-2'))
    .action(async (member: string, options: RunningOptions) =>
      end(await operate(`/members/${encodeURIComponent(member)}/drain`, options, io, drainedText)),
    );
  remote('resume', 'Undo a drain')
    .argument('<member>', 'name of the member')
    .addHelpText('after', examples('pointsman resume pg-2'))
    .action(async (member: string, options: RunningOptions) =>
      end(await operate(`/members/${encodeURIComponent(member)}/resume`, options, io, drainedText)),
    );
  remote('accept', 'Accept a refused primary; without an argument, show which primaries are refused')
    .addArgument(new Argument('[what]', 'reason of the refusal').choices(REFUSAL_KINDS))
    .addHelpText('after', ACCEPT_HELP)
    .addHelpText('after', examples('pointsman accept', 'pointsman accept timeline'))
    .action(async (what: RefusalKind | undefined, options: RunningOptions) =>
      end(
        what === undefined
          ? await showRefused(options, io)
          : await operate(`/accept/${what}`, options, io, acceptedText),
      ),
    );
}

const ACCEPT_HELP = `
  timeline          the primary's timeline is lower than that of an earlier primary
  cluster-identity  the primary reports another system identifier, or none, under the same cluster name

An accepted primary receives writes. Accept it only if its data is the data you want: after a restore, a new bootstrap
or an upgrade. Without an argument nothing changes.
Exit codes: 0 accepted, or a refused primary is shown; 1 nothing to accept, or a failure; 2 wrong usage.`;

/** `describe` turns the answer into text; undefined: the answer has another shape. */
async function operate(
  path: string,
  options: RunningOptions,
  io: CliIo,
  describe: (body: unknown) => string | undefined,
): Promise<number> {
  const running = findRunning(options, io);
  if (typeof running === 'number') return running;
  const token = await tokenFor(running, io);
  if (token === undefined) return EXIT.usage;
  const answer = await request(running, { method: 'POST', path, token }, io);
  if (answer === undefined) return EXIT.failure;
  const text = answer.status === 200 ? describe(answer.body) : undefined;
  if (text !== undefined) {
    io.stdout(text);
    return EXIT.ok;
  }
  const { data } = failed.safeParse(answer.body);
  const error = data?.error ?? `unexpected answer with HTTP status ${answer.status}`;
  io.stderr([`pointsman: ${error}`, ...(data?.problems ?? [])].map((line) => `${line}\n`).join(''));
  return EXIT.failure;
}

function refreshedText(body: unknown): string | undefined {
  const { data } = refreshed.safeParse(body);
  if (data === undefined) return undefined;
  return data.merged ? 'all members were probed less than a second ago\n' : 'probing all members now\n';
}

function reloadedText(body: unknown): string | undefined {
  const { data } = reloaded.safeParse(body);
  if (data === undefined) return undefined;
  const { changed, needs_restart: needsRestart, warnings } = data;
  const lines = [
    ...(changed.length === 0 ? ['no changes'] : changed),
    ...needsRestart.map((change) => `needs a restart: ${change}`),
    ...warnings.map((warning) => `warning: ${warning}`),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function drainedText(body: unknown): string | undefined {
  const { data } = drained.safeParse(body);
  if (data === undefined) return undefined;
  const resumed = data.was_drained === false ? 'was not drained' : 'resumed';
  const what = data.drained ? 'drained: no new sessions until it is resumed' : resumed;
  return `${data.member} ${what}\n${poolsText(data.pools)}`;
}

function acceptedText(body: unknown): string | undefined {
  const { data } = accepted.safeParse(body);
  return data && `${data.member} accepted as primary with ${data.accepted}\n${poolsText(data.pools)}`;
}

function poolsText(pools: Readonly<Record<string, string>>): string {
  const width = Math.max(...Object.keys(pools).map(({ length }) => length));
  return Object.entries(pools)
    .map(([pool, route]) => `  pool ${pool.padEnd(width)}  ${route}\n`)
    .join('');
}
