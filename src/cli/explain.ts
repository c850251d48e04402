// `pointsman explain`: prints where each pool of a running Pointsman routes, and why each member is included or
// excluded. The sentences come from /status; clients and the log get the same ones.
import { z } from 'zod';
import { durationText, standingText } from '../core/describe.ts';
import { addressText } from '../model/member.ts';
import { shown } from '../model/printable.ts';
import { EXIT } from './io.ts';
import type { CliIo } from './io.ts';
import { request } from './request.ts';
import { findRunning } from './running.ts';
import type { Running, RunningOptions } from './running.ts';

export interface ExplainOptions extends RunningOptions {
  readonly pool?: string | undefined;
  /** Print the part of /status instead of sentences. */
  readonly json?: boolean | undefined;
}

const standing = z.object({
  standing: z.enum(['open', 'keep', 'leave']),
  cause: z.string().optional(),
  why: z.string(),
});
const member = z.looseObject({ name: z.string(), pools: z.record(z.string(), standing) });
const sessions = z.looseObject({ by_state: z.looseObject({ holding: z.number() }) });
const pool = z.looseObject({ name: z.string(), check: z.string(), why: z.string(), sessions: sessions.nullable() });
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
  const answer = await request(running, { method: 'GET', path: '/status' }, io);
  if (answer === undefined) return EXIT.failure;
  const status = statusDocument.safeParse(answer.body);
  if (answer.status !== 200 || !status.success) {
    io.stderr(`pointsman: ${addressText(running.address)} is not a Pointsman admin endpoint, or of another version\n`);
    return EXIT.failure;
  }
  const part = partOf(status.data, options.pool);
  if (part.pools.length === 0 && options.pool !== undefined) {
    const known = status.data.pools.map(({ name }) => name).join(', ');
    io.stderr(`pointsman: unknown pool ${options.pool}: the pools are ${known}\n`);
    return EXIT.usage;
  }
  io.stdout(options.json === true ? `${jsonOf(part)}\n` : explanation(part, running));
  return EXIT.ok;
}

/** The document limited to one pool; all of it if `name` is undefined. */
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
  const from = `status from ${addressText(address)}, up for ${durationText(uptime * 1000)}`;
  const { drained, refused_primaries: refused, scheduled_switchover: switchover } = cluster;
  const lines = [
    `cluster ${shown(cluster.scope ?? 'unknown')}, ${timeline}, ${from}`,
    ...(notReady === undefined ? [] : [`not ready: ${notReady}`]),
    ...refused.map(({ member: name, why }) => `refused: ${name} ${why} (see pointsman accept)`),
    ...(drained.length === 0 ? [] : [`drained by the operator: ${drained.join(', ')}`]),
    ...(switchover === null
      ? []
      : [`switchover from ${switchover.from} scheduled in ${durationText(switchover.in_seconds * 1000)}`]),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function poolText(
  { name: pool, check, why, sessions: counts }: Status['pools'][number],
  members: Status['members'],
): string {
  const rows = members.flatMap((one) => {
    const own = one.pools[pool];
    return own === undefined ? [] : [[one.name, standingText(own.standing, own.cause), own.why] as const];
  });
  const width = (column: 0 | 1): number => Math.max(0, ...rows.map((row) => row[column].length));
  const lines = rows.map(
    ([name, state, sentence]) => `  ${name.padEnd(width(0))}  ${state.padEnd(width(1))}  ${sentence}\n`,
  );
  const heading = `pool ${pool} (${check}): ${why}${waitingText(counts?.by_state.holding ?? 0)}\n`;
  return `${heading}${lines.join('') || '  no known members\n'}`;
}

function waitingText(clients: number): string {
  return clients === 0 ? '' : `; ${clients === 1 ? '1 client' : `${clients} clients`} waiting`;
}
