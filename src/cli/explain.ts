// `pointsman explain`: asks a running Pointsman where each pool leads, and for each member why it is or is not in it. The words are
// those of its status document, in which clients and the log are told the same.
import { z } from 'zod';
import { durationText, standingText } from '../core/describe.ts';
import { addressText } from '../model/member.ts';
import { shown } from '../model/printable.ts';
import { EXIT } from './io.ts';
import type { CliIo } from './io.ts';
import { ask, findRunning } from './running.ts';
import type { Running, RunningOptions } from './running.ts';

export interface ExplainOptions extends RunningOptions {
  readonly pool?: string | undefined;
  /** The part of the status document instead of sentences. */
  readonly json?: boolean | undefined;
}

const standing = z.object({
  standing: z.enum(['open', 'keep', 'leave']),
  cause: z.string().optional(),
  why: z.string(),
});
const member = z.looseObject({ name: z.string(), pools: z.record(z.string(), standing) });
const pool = z.looseObject({ name: z.string(), check: z.string(), why: z.string() });
const statusDocument = z.object({
  uptime_seconds: z.number(),
  not_ready_because: z.string().optional(),
  cluster: z.object({
    scope: z.string().nullable(),
    timeline: z.number().nullable(),
    drained: z.array(z.string()),
    refused_primaries: z.array(z.object({ member: z.string(), why: z.string() })).default([]),
    scheduled_switchover: z.object({ in_seconds: z.number(), from: z.string() }).nullable(),
  }),
  members: z.array(member),
  refused_members: z.array(z.object({ name: z.string(), reason: z.string(), why: z.string() })).default([]),
  pools: z.array(pool),
});

type Status = z.infer<typeof statusDocument>;

export async function explain(options: ExplainOptions, io: CliIo): Promise<number> {
  const running = findRunning(options, io);
  if (typeof running === 'number') return running;
  const answer = await ask(running, { method: 'GET', path: '/status' }, io);
  if (answer === undefined) return EXIT.failure;
  const status = statusDocument.safeParse(answer.body);
  if (answer.status !== 200 || !status.success) {
    io.stderr(`pointsman: what answers at ${addressText(running.address)} has no status that can be read here\n`);
    return EXIT.failure;
  }
  const part = partOf(status.data, options.pool);
  if (part.pools.length === 0 && options.pool !== undefined) {
    const known = status.data.pools.map(({ name }) => name).join(', ');
    io.stderr(`pointsman: there is no pool ${options.pool}: known are ${known}\n`);
    return EXIT.usage;
  }
  io.stdout(options.json === true ? `${jsonOf(part)}\n` : explanation(part, running));
  return EXIT.ok;
}

/** What the document says of one pool; all of it when none is named. */
function partOf(status: Status, name: string | undefined): Status {
  if (name === undefined) return status;
  const members = status.members.map((one) => {
    const own = one.pools[name];
    return { ...one, pools: own === undefined ? {} : { [name]: own } };
  });
  return { ...status, members, pools: status.pools.filter((one) => one.name === name) };
}

function jsonOf({ pools, members, refused_members }: Status): string {
  return JSON.stringify({ pools, members, refused_members }, null, 2);
}

function explanation(status: Status, running: Running): string {
  const parts = [heading(status, running), ...status.pools.map((one) => poolText(one, status.members))];
  if (status.refused_members.length > 0) parts.push(refusedText(status.refused_members));
  return parts.join('\n');
}

function refusedText(refused: Status['refused_members']): string {
  const width = Math.max(...refused.map(({ name }) => name.length));
  return `not used:\n${refused.map(({ name, why }) => `  ${name.padEnd(width)}  ${why}\n`).join('')}`;
}

function heading(
  { cluster, uptime_seconds: uptime, not_ready_because: notReady }: Status,
  { address }: Running,
): string {
  const timeline = cluster.timeline === null ? 'no primary seen yet' : `timeline ${cluster.timeline}`;
  const { drained, refused_primaries: refused, scheduled_switchover: switchover } = cluster;
  const lines = [
    `cluster ${shown(cluster.scope ?? 'unknown')}, ${timeline}, as seen by ${addressText(address)}, up for ${durationText(uptime * 1000)}`,
    ...(notReady === undefined ? [] : [`not ready: ${notReady}`]),
    ...refused.map(({ member: name, why }) => `refused: ${name} ${why} (pointsman accept shows what ends that)`),
    ...(drained.length === 0 ? [] : [`drained by the operator: ${drained.join(', ')}`]),
    ...(switchover === null
      ? []
      : [`a switchover from ${switchover.from} is scheduled in ${durationText(switchover.in_seconds * 1000)}`]),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function poolText({ name, check, why }: Status['pools'][number], members: Status['members']): string {
  const rows = members.flatMap((one) => {
    const own = one.pools[name];
    return own === undefined ? [] : [[one.name, standingText(own.standing, own.cause), own.why] as const];
  });
  const width = (column: 0 | 1): number => Math.max(0, ...rows.map((row) => row[column].length));
  const lines = rows.map(
    ([who, place, sentence]) => `  ${who.padEnd(width(0))}  ${place.padEnd(width(1))}  ${sentence}\n`,
  );
  return `pool ${name} (${check}): ${why}\n${lines.join('') || '  no member is known\n'}`;
}
