// `pointsman explain`: prints where each pool of a running Pointsman routes, and why each member is included or
// excluded.
import { durationText } from '../core/describe.ts';
import { addressText } from '../model/member.ts';
import { shown } from '../model/printable.ts';
import { EXIT } from './io.ts';
import type { CliIo } from './io.ts';
import type { Running } from './running.ts';
import { branchesText, branchTrouble } from './status/branches.ts';
import { readStatus } from './status/document.ts';
import type { Status, StatusOptions } from './status/document.ts';
import { evidenceText } from './status/evidence.ts';
import { paintFor } from './terminal/colour.ts';
import { tableText, widthFor } from './terminal/table.ts';

export interface ExplainOptions extends StatusOptions {
  /** Print the part of /status instead of sentences. */
  readonly json?: boolean | undefined;
}

export async function explain(options: ExplainOptions, io: CliIo): Promise<number> {
  const found = await readStatus(options, io);
  if (typeof found === 'number') return found;
  const { status, running } = found;
  io.stdout(options.json === true ? `${jsonOf(status)}\n` : explanation(status, running, io));
  return EXIT.ok;
}

function jsonOf({ pools, members, refused_members, branches }: Status): string {
  return JSON.stringify({ pools, members, refused_members, branches }, null, 2);
}

function explanation(status: Status, running: Running, io: CliIo): string {
  const width = widthFor(io);
  const parts = [heading(status, running), evidenceText(status, { width, paint: paintFor(io) })];
  const branches = branchesText(status, paintFor(io));
  if (branches !== '') parts.push(`${branches}${troubleText(status)}`);
  if (status.refused_members.length > 0) parts.push(refusedText(status.refused_members, width));
  return parts.join('\n');
}

function troubleText(status: Status): string {
  const why = branchTrouble(status);
  return why === undefined ? '' : `  the list ${why}\n`;
}

function refusedText(refused: Status['refused_members'], width: number): string {
  const rows = refused.map(({ name, why }) => [`  ${shown(name)}`, why]);
  return `not used:\n${tableText([{ title: '' }, { title: '', wraps: true }], rows, width)}`;
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
