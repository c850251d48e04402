// `pointsman accept` without an argument: shows each refused primary, the reason, and how the refusal ends. Read-only.
import { z } from 'zod';
import { durationText } from '../core/describe.ts';
import { shown } from '../model/printable.ts';
import { EXIT } from './io.ts';
import type { CliIo } from './io.ts';
import { request } from './request.ts';
import { findRunning } from './running.ts';
import type { RunningOptions } from './running.ts';
import { paintFor } from './terminal/colour.ts';
import { tableText, widthFor } from './terminal/table.ts';

const refusedPrimary = z.object({
  member: z.string(),
  why: z.string(),
  for_seconds: z.number(),
  ends_by: z.array(z.string()),
});
const statusDocument = z.object({ cluster: z.object({ refused_primaries: z.array(refusedPrimary).default([]) }) });

export async function showRefused(options: RunningOptions, io: CliIo): Promise<number> {
  const running = findRunning(options, io);
  if (typeof running === 'number') return running;
  const answer = await request(running, { method: 'GET', path: '/status' }, io);
  if (answer === undefined) return EXIT.failure;
  const status = statusDocument.safeParse(answer.body);
  const refused = status.data?.cluster.refused_primaries ?? [];
  if (!status.success || refused.length === 0) {
    const why = status.success ? 'nothing to accept: no primary is refused' : 'unexpected answer to /status';
    io.stderr(`pointsman: ${why}\n`);
    return EXIT.failure;
  }
  io.stdout(refused.map((one) => refusedText(one, io)).join(''));
  return EXIT.ok;
}

function refusedText(
  { member, why, for_seconds: seconds, ends_by: ends }: z.infer<typeof refusedPrimary>,
  io: CliIo,
): string {
  const rows = [
    [paintFor(io)('bad', shown(member)), `${why} (for ${durationText(seconds * 1000)})`],
    ...ends.map((end) => ['', `ends with ${end}`]),
  ];
  return tableText([{ title: '' }, { title: '', wraps: true }], rows, widthFor(io));
}
