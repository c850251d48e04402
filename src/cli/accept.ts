// `pointsman accept` without an argument: shows each refused primary, the reason, and how the refusal ends. Read-only.
import { z } from 'zod';
import { durationText } from '../core/describe.ts';
import { shown } from '../model/printable.ts';
import { EXIT } from './io.ts';
import type { CliIo } from './io.ts';
import { json } from './json.ts';
import type { OperateOptions } from './send-operation.ts';
import { request } from './admin-request.ts';
import { findRunning } from './running.ts';
import { paintFor } from './terminal/colour.ts';
import { tableText, widthFor } from './terminal/terminal-table.ts';

const refusedPrimary = z.looseObject({
  member: z.string(),
  why: z.string(),
  for_seconds: z.number(),
  ends_by: z.array(z.string()),
});
const statusDocument = z.object({ cluster: z.object({ refused_primaries: z.array(refusedPrimary).default([]) }) });

export async function showRefused(options: OperateOptions, io: CliIo): Promise<number> {
  const running = findRunning(options, io);
  if (typeof running === 'number') return running;
  const answer = await request(running, { method: 'GET', path: '/status' }, io);
  if (answer === undefined) return EXIT.failure;
  const { data } = statusDocument.safeParse(answer.body);
  if (data === undefined) {
    io.stderr('pointsman: unexpected answer to /status\n');
    return EXIT.failure;
  }
  const { refused_primaries: refused } = data.cluster;
  if (options.json === true) io.stdout(json({ refused_primaries: refused }));
  else if (refused.length === 0) io.stdout('no primary is refused\n');
  else io.stdout(refused.map((one) => refusedText(one, io)).join(''));
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
