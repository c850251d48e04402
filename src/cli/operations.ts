// The commands that ask a running Pointsman to do something: `refresh`, `reload`, `drain`, `resume`, `accept`. Its
// token comes from the same configuration.
import { Argument } from 'commander';
import type { Command } from 'commander';
import { z } from 'zod';
import { REFUSAL_KINDS } from '../core/snapshot.ts';
import type { RefusalKind } from '../core/snapshot.ts';
import { showRefused } from './accept.ts';
import { EXIT } from './io.ts';
import type { CliIo } from './io.ts';
import { ask, findRunning, tokenFor } from './running.ts';
import type { RunningOptions } from './running.ts';

const failed = z.object({ error: z.string(), problems: z.array(z.string()).default([]) });
const reloaded = z.object({
  changed: z.array(z.string()),
  needs_restart: z.array(z.string()),
  warnings: z.array(z.string()),
});
const refreshed = z.object({ asked: z.boolean() });
const accepted = z.object({ member: z.string(), accepted: z.string(), pools: z.record(z.string(), z.string()) });
const drained = z.object({
  member: z.string(),
  drained: z.boolean(),
  was_drained: z.boolean().optional(),
  pools: z.record(z.string(), z.string()),
});

/** `configured` begins a command that finds a running Pointsman. */
export function describeOperations(
  configured: (name: string, description: string) => Command,
  io: CliIo,
  end: (code: number) => void,
): void {
  configured('refresh', 'have every member asked at once').action(async (options: RunningOptions) =>
    end(await operate('/refresh', options, io, refreshedText)),
  );
  configured('reload', 'have it read its configuration again, as SIGHUP does, and say what changed').action(
    async (options: RunningOptions) => end(await operate('/reload', options, io, reloadedText)),
  );
  configured('drain', 'take a member out of its pools until it is resumed, or Pointsman restarts')
    .argument('<member>', 'its name')
    .action(async (member: string, options: RunningOptions) =>
      end(await operate(`/members/${encodeURIComponent(member)}/drain`, options, io, drainedText)),
    );
  configured('resume', 'take a drain back')
    .argument('<member>', 'its name')
    .action(async (member: string, options: RunningOptions) =>
      end(await operate(`/members/${encodeURIComponent(member)}/resume`, options, io, drainedText)),
    );
  configured('accept', 'believe a primary that is refused because of what was seen before; alone: show what is refused')
    .addArgument(new Argument('[what]', 'what it is refused for').choices(REFUSAL_KINDS))
    .addHelpText('after', ACCEPT_HELP)
    .action(async (what: RefusalKind | undefined, options: RunningOptions) =>
      end(
        what === undefined
          ? await showRefused(options, io)
          : await operate(`/accept/${what}`, options, io, acceptedText),
      ),
    );
}

const ACCEPT_HELP = `
  timeline          the primary's timeline is lower than one that a primary had before
  cluster-identity  the primary shows another system identifier, or none, under the same cluster name

Clients are then sent to this primary. Accept it only when you know that its data is what you want: after a restore,
a new bootstrap or an upgrade. Without an argument nothing changes.
Exit codes: 0 accepted, or something to accept is shown; 1 there is nothing to accept, or it failed; 2 wrong usage.`;

/** `tell` makes text of the answer; undefined: it cannot be read. */
async function operate(
  path: string,
  options: RunningOptions,
  io: CliIo,
  tell: (body: unknown) => string | undefined,
): Promise<number> {
  const running = findRunning(options, io);
  if (typeof running === 'number') return running;
  const token = await tokenFor(running, io);
  if (token === undefined) return EXIT.usage;
  const answer = await ask(running, { method: 'POST', path, token }, io);
  if (answer === undefined) return EXIT.failure;
  const text = answer.status === 200 ? tell(answer.body) : undefined;
  if (text !== undefined) {
    io.stdout(text);
    return EXIT.ok;
  }
  const { data } = failed.safeParse(answer.body);
  const error = data?.error ?? `an answer that cannot be read, status ${answer.status}`;
  io.stderr([`pointsman: ${error}`, ...(data?.problems ?? [])].map((line) => `${line}\n`).join(''));
  return EXIT.failure;
}

function refreshedText(body: unknown): string | undefined {
  const { data } = refreshed.safeParse(body);
  if (data === undefined) return undefined;
  return data.asked ? 'every member is asked now\n' : 'every member was asked less than a second ago\n';
}

function reloadedText(body: unknown): string | undefined {
  const { data } = reloaded.safeParse(body);
  if (data === undefined) return undefined;
  const { changed, needs_restart: needsRestart, warnings } = data;
  const lines = [
    ...(changed.length === 0 ? ['nothing changed'] : changed),
    ...needsRestart.map((change) => `not applied without a restart: ${change}`),
    ...warnings.map((warning) => `warning: ${warning}`),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function drainedText(body: unknown): string | undefined {
  const { data } = drained.safeParse(body);
  if (data === undefined) return undefined;
  const resumed = data.was_drained === false ? 'was not drained' : 'is resumed';
  const what = data.drained ? 'is drained: no new sessions until it is resumed' : resumed;
  return `${data.member} ${what}\n${poolsText(data.pools)}`;
}

function acceptedText(body: unknown): string | undefined {
  const { data } = accepted.safeParse(body);
  return data && `${data.member} is believed as the primary, with ${data.accepted}\n${poolsText(data.pools)}`;
}

function poolsText(pools: Readonly<Record<string, string>>): string {
  const width = Math.max(...Object.keys(pools).map(({ length }) => length));
  return Object.entries(pools)
    .map(([pool, route]) => `  pool ${pool.padEnd(width)}  ${route}\n`)
    .join('');
}
