// `pointsman cluster history`: every change of timeline that the cluster remembers.
import type { HistoryEntry } from '../../documents/cluster-documents.ts';
import { formatLsn } from '../../model/lsn.ts';
import { EXIT } from '../io.ts';
import { tableText, widthFor } from '../terminal/terminal-table.ts';
import { openContext, valueOf, type ClusterCommand } from './cluster-context.ts';
import { json } from '../json.ts';
import { localTime } from './times.ts';

export async function history(command: ClusterCommand): Promise<number> {
  const { control, options, io } = await openContext(command);
  const entries = valueOf(await control.history(), io);
  io.stdout(options.json === true ? json({ history: entries }) : historyText(entries, widthFor(io)));
  return EXIT.ok;
}

function historyText(entries: readonly HistoryEntry[], width: number): string {
  if (entries.length === 0) return 'no change of timeline yet\n';
  const rows = entries.map(({ timeline, lsn, reason, at, new_leader: leader }) => [
    String(timeline),
    formatLsn(lsn),
    at === null ? '-' : localTime(at),
    leader ?? '-',
    reason,
  ]);
  const columns = [
    { title: 'TL', align: 'right' },
    { title: 'ENDED AT' },
    { title: 'NEXT BEGAN' },
    { title: 'NEW LEADER' },
    { title: 'REASON', wraps: true },
  ] as const;
  return tableText(columns, rows, width);
}
