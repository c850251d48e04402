// The commands that ask a running Pointsman to do something: `refresh`, `reload`, `drain`, `resume`. Its token comes from the same
// configuration.
import type { Command } from 'commander';
import { z } from 'zod';
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
const drained = z.object({ member: z.string(), drained: z.boolean(), pools: z.record(z.string(), z.string()) });

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
}

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
  const what = data.drained ? 'is drained: no new sessions until it is resumed' : 'is resumed';
  const width = Math.max(...Object.keys(data.pools).map(({ length }) => length));
  const lines = Object.entries(data.pools).map(([pool, route]) => `  pool ${pool.padEnd(width)}  ${route}\n`);
  return `${data.member} ${what}\n${lines.join('')}`;
}
