// The table and the legend of test/bench/README.md.
import type { Result, Spread } from './results.ts';

interface Line {
  readonly title: string;
  readonly bar: string;
  readonly cell: (result: Result) => string;
}

function lines(cancels: number): readonly Line[] {
  return [
    {
      title: 'switchover: first write through after the first direct one, ms',
      bar: '≤ 100',
      cell: (r) => range(r.switchoverMs),
    },
    { title: 'host death: the same, ms', bar: '≤ 100', cell: (r) => range(r.deathMs) },
    { title: 'restart in place: after the first by anybody, ms', bar: '', cell: (r) => range(r.restartMs) },
    {
      title: 'restart in place: failed connects',
      bar: '0',
      cell: ({ restartCounts }) => `${restartCounts.failedConnects} of ${restartCounts.attempts}`,
    },
    { title: 'failed connects', bar: '0', cell: ({ counts }) => `${counts.failedConnects} of ${counts.attempts}` },
    { title: 'read-only errors', bar: '0', cell: ({ counts }) => String(counts.readOnlyErrors) },
    { title: 'other failed statements', bar: '', cell: ({ counts }) => String(counts.failedStatements) },
    { title: 'writes that reached a non-primary', bar: '0', cell: ({ counts }) => String(counts.strayWrites) },
    {
      title: 'sessions cut although their primary was healthy',
      bar: '0',
      cell: (r) => `${r.cutWhileHealthy} of ${r.sessions}`,
    },
    {
      title: 'sessions left on a replaced primary after 10 s',
      bar: '',
      cell: (r) => `${r.leftBehind} of ${r.sessionsReplaced}`,
    },
    { title: 'cancels that worked', bar: String(cancels), cell: (r) => `${r.cancelsWorked} of ${cancels}` },
  ];
}

/** Markdown with aligned columns. */
export function table(results: readonly Result[], cancels: number): string {
  const header = ['', ...results.map(({ peer }) => peer), 'bar'];
  const body = lines(cancels).map(({ title, bar, cell }) => [title, ...results.map(cell), bar]);
  const widths = header.map((_, column) => Math.max(3, ...[header, ...body].map((row) => row[column]?.length ?? 0)));
  const draw = (row: readonly string[]): string =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [draw(header), `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...body.map(draw)].join('\n');
}

/** The definition of each line. */
export const LEGEND = `\
Attempts are clients that connect, insert one row and leave, at the same steady rate through each peer; none is
repeated. Counted are those that started after the fault: after the old primary ended its sessions (switchover, host
death), or its Patroni was frozen. Restarts in place are counted apart.

- **First write**: median (least-most) of the rounds, from the moment a client that knows every member had its first
  row on the new primary.
- **Failed connect**: no session, whatever the reason (45 s of patience). **Read-only error**: SQLSTATE 25006.
- **A write reached a non-primary**: its row was acknowledged by a server other than the primary, or by the old one
  after the first direct write on the new one. In the rounds in which Patroni stays frozen until it is replaced, the
  old PostgreSQL still accepts writes.
- **Sessions cut**: open on the primary, ended while it was the only one. **Left**: open on the old primary 10 s after
  the new one accepted a write.
- **Cancels**: of a long query on the read side, with two replicas, as the client's library sends them.`;

function range({ median, least, most, n }: Spread): string {
  if (n === 0) return 'not run';
  return `${shown(median)} (${shown(least)}-${shown(most)}), n=${n}`;
}

function shown(ms: number): string {
  return Number.isFinite(ms) ? String(Math.round(ms)) : 'never';
}
