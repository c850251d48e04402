// `pointsman accept` without an argument: shows each refused primary, the reason, and how the refusal ends. Read-only.
import { durationText } from '../core/describe.ts';
import { shown } from '../model/printable.ts';
import { fail } from './command-end.ts';
import { EXIT, type CliIo } from './io.ts';
import { json } from './json.ts';
import { request } from './admin-request.ts';
import { findRunning, type RunningOptions } from './running.ts';
import { statusReader, type Status } from './status/read-status.ts';
import { paintFor } from './terminal/colour.ts';
import { tableText, widthFor } from './terminal/terminal-table.ts';

export async function showRefused(options: RunningOptions, io: CliIo): Promise<number> {
  const running = findRunning(options, io);
  const answer = await request(running, { method: 'GET', path: '/status' }, io);
  const { data } = statusReader.safeParse(answer.body);
  if (data === undefined) return fail(io, 'unexpected answer to /status');
  const { refused_primaries: refused = [] } = data.cluster;
  if (options.json === true) io.stdout(json({ refused_primaries: refused }));
  else if (refused.length === 0) io.stdout('no primary is refused\n');
  else io.stdout(refused.map((one) => refusedText(one, io)).join(''));
  return EXIT.ok;
}

function refusedText(
  { member, why, for_seconds: seconds, ends_by: ends }: NonNullable<Status['cluster']['refused_primaries']>[number],
  io: CliIo,
): string {
  const rows = [
    [paintFor(io)('bad', shown(member)), `${why} (for ${durationText(seconds * 1000)})`],
    ...ends.map((end) => ['', `ends with ${end}`]),
  ];
  return tableText([{ title: '' }, { title: '', wraps: true }], rows, widthFor(io));
}
