// GET /status, as the commands read it from a Pointsman of any version.
import type { z } from 'zod';
import { looseReader } from '../../documents/loose-reader.ts';
import { statusDocument } from '../../documents/status-document.ts';
import { unknownName } from '../../config/closest.ts';
import { addressText } from '../../model/member.ts';
import { EXIT } from '../io.ts';
import type { CliIo } from '../io.ts';
import { request } from '../admin-request.ts';
import { findRunning } from '../running.ts';
import type { Running, RunningOptions } from '../running.ts';

export const statusReader = looseReader(statusDocument, {
  needed: [
    'uptime_seconds cluster members pools name why for_seconds outcome member sign word standing level about text',
    'check route kind pool by_state by_member accepted closed to_backend_bytes to_client_bytes source branches',
    'client_wait_seconds',
  ],
});

export type Status = z.infer<typeof statusReader>;
export type StatusPool = Status['pools'][number];
export type StatusMember = Status['members'][number];

export interface StatusOptions extends RunningOptions {
  readonly pool?: string | undefined;
}

export interface FoundStatus {
  readonly status: Status;
  readonly running: Running;
}

/** Limited to one pool if `pool` is given. A number is the exit code; the reason is then on stderr. */
export async function readStatus(options: StatusOptions, io: CliIo): Promise<FoundStatus | number> {
  const running = findRunning(options, io);
  if (typeof running === 'number') return running;
  const data = await statusFrom(running, io);
  if (typeof data === 'number') return data;
  const status = ofPool(data, options.pool);
  if (status.pools.length > 0 || options.pool === undefined) return { status, running };
  const known = data.pools.map(({ name }) => name);
  io.stderr(`pointsman: ${unknownName('pool', options.pool, known)}\n`);
  return EXIT.usage;
}

/** A number is the exit code; the reason is then on stderr. */
export async function statusFrom(running: Running, io: CliIo): Promise<Status | number> {
  const answer = await request(running, { method: 'GET', path: '/status' }, io);
  if (answer === undefined) return EXIT.failure;
  const { success, data } = statusReader.safeParse(answer.body);
  if (answer.status === 200 && success) return data;
  io.stderr(`pointsman: ${addressText(running.address)} is not a Pointsman admin endpoint, or of another version\n`);
  return EXIT.failure;
}

/** The document limited to one pool; all of it if `name` is undefined. */
export function ofPool(status: Status, name: string | undefined): Status {
  if (name === undefined) return status;
  const members = status.members.map((one) => {
    const own = one.pools[name];
    return { ...one, pools: own === undefined ? {} : { [name]: own } };
  });
  const { branches: _, ...rest } = status;
  const notices = status.notices.filter(({ pool = name }) => pool === name);
  return { ...rest, notices, members, pools: status.pools.filter((one) => one.name === name) };
}
