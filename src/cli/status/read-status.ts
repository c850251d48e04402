// GET /status, as the commands read it from a Pointsman of any version.
import type { z } from 'zod';
import { looseReader } from '../../documents/loose-reader.ts';
import { statusDocument } from '../../documents/status-document.ts';
import { unknownName } from '../../config/closest.ts';
import { addressText } from '../../model/member.ts';
import { fail, wrong } from '../command-end.ts';
import type { CliIo } from '../io.ts';
import { request } from '../admin-request.ts';
import { findRunning, type Running, type RunningOptions } from '../running.ts';

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

/** Limited to one pool if `pool` is given. */
export async function readStatus(
  options: StatusOptions,
  io: CliIo,
): Promise<{ readonly status: Status; readonly running: Running }> {
  const running = findRunning(options, io);
  const data = await statusFrom(running, io);
  const status = ofPool(data, options.pool);
  if (status.pools.length > 0 || options.pool === undefined) return { status, running };
  const known = data.pools.map(({ name }) => name);
  return wrong(io, unknownName('pool', options.pool, known));
}

export async function statusFrom(running: Running, io: CliIo): Promise<Status> {
  const answer = await request(running, { method: 'GET', path: '/status' }, io);
  const { success, data } = statusReader.safeParse(answer.body);
  if (answer.status === 200 && success) return data;
  return fail(io, `${addressText(running.address)} is not a Pointsman admin endpoint, or of another version`);
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
