// `pointsman explain`: prints where each pool of a running Pointsman routes, and why each member is included or
// excluded.
import { addressText } from '../model/member.ts';
import { shown } from '../model/printable.ts';
import { EXIT, type CliIo } from './io.ts';
import { json } from './json.ts';
import type { Running } from './running.ts';
import { branchesText } from './status/branch-status.ts';
import { readStatus, type Status, type StatusOptions } from './status/read-status.ts';
import { evidenceText } from './status/evidence-text.ts';
import { heading, noticesText } from './status/status-screen.ts';
import { paintFor } from './terminal/colour.ts';
import { tableText, widthFor } from './terminal/terminal-table.ts';

export async function explain(options: StatusOptions, io: CliIo): Promise<number> {
  const { status, running } = await readStatus(options, io);
  const { pools, members, refused_members, notices, branches } = status;
  const part = { pools, members, refused_members, notices, branches };
  io.stdout(options.json === true ? json(part) : explanation(status, running, io));
  return EXIT.ok;
}

function explanation(status: Status, running: Running, io: CliIo): string {
  const look = { width: widthFor(io), paint: paintFor(io), from: addressText(running.address) };
  const { refused_members: refused } = status;
  const notices = status.notices.filter(({ about }) => about !== 'not used');
  const parts = [
    heading(status, look),
    evidenceText(status, look),
    branchesText(status, look.paint),
    refused.length === 0 ? '' : refusedText(refused, look.width),
    noticesText({ ...status, notices }, look),
  ];
  return parts.filter((part) => part !== '').join('\n');
}

function refusedText(refused: Status['refused_members'], width: number): string {
  const rows = refused.map(({ name, why }) => [`  ${shown(name)}`, why]);
  return `not used:\n${tableText([{ title: '' }, { title: '', wraps: true }], rows, width)}`;
}
