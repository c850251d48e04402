// The report of the checked reads: a page for somebody who decides whether to trust them, and the same as text.
import { type Cell, clock, escape, tableOf, verdict } from '../consistency/report/html.ts';
import { STYLE } from '../consistency/report/style.ts';
import { GATED, type HistoryPool, type PhaseRecord } from './history-run.ts';

export interface HistorySums {
  readonly gated: number;
  /** The gate makes one for all reads that came at once. */
  readonly checks: number;
  readonly stale: number;
  readonly lost: number;
  readonly late: number;
  readonly plain: number;
  readonly plainStale: number;
  readonly writes: number;
}

export function sumsOf(records: readonly PhaseRecord[]): HistorySums {
  const over = (of: (record: PhaseRecord) => number): number => records.reduce((sum, record) => sum + of(record), 0);
  const gated = (of: (record: PhaseRecord, pool: HistoryPool) => number): number =>
    over((record) => GATED.reduce((sum, pool) => sum + of(record, pool), 0));
  return {
    gated: gated(({ pools }, pool) => pools[pool].reads),
    checks: gated(({ pools }, pool) => pools[pool].checks),
    stale: gated(({ pools }, pool) => pools[pool].stale.length),
    lost: gated(({ pools }, pool) => pools[pool].lost),
    late: gated(({ pools }, pool) => pools[pool].errors.get('57014') ?? 0),
    plain: over(({ pools }) => pools.plain.reads),
    plainStale: over(({ pools }) => pools.plain.stale.length),
    writes: over(({ writes }) => writes),
  };
}

/** It proves something: the same checker finds stale reads where nothing is promised. */
export function isProven(records: readonly PhaseRecord[]): boolean {
  const { stale, plainStale } = sumsOf(records);
  return stale === 0 && plainStale > 0;
}

const HEAD = [
  'Phase',
  'Verdict',
  'Gated reads',
  'Stale',
  'Of lost writes',
  'Late',
  'Not gated: stale',
  'Writes',
  'Time',
];

function rowOf(record: PhaseRecord): readonly (string | number)[] {
  const { gated, checks, stale, lost, late, plain, plainStale, writes } = sumsOf([record]);
  const share = plain === 0 ? '–' : `${plainStale} of ${plain} (${((100 * plainStale) / plain).toFixed(1)} %)`;
  return [record.phase.name, gated, checks, stale, lost, late, share, writes, clock(record.tookMs)];
}

function totals(records: readonly PhaseRecord[]): readonly (string | number)[] {
  const { gated, checks, stale, lost, late, plain, plainStale, writes } = sumsOf(records);
  return ['all', gated, checks, stale, lost, late, `${plainStale} of ${plain}`, writes, ''];
}

export function historyText(records: readonly PhaseRecord[]): string {
  const [, ...head] = HEAD;
  const rows = [['Phase', ...head.slice(1)], head.map(() => '---'), ...records.map(rowOf), totals(records)];
  const notes = records.flatMap(({ phase, note }) => (note === undefined ? [] : [`- ${phase.name}: ${note}`]));
  return [...rows.map((row) => `| ${row.join(' | ')} |`), ...(notes.length === 0 ? [] : ['', ...notes])].join('\n');
}

export interface HistoryAround {
  readonly date: string;
  readonly facts: readonly string[];
  /** Repeats the run. */
  readonly command: string;
}

const said = (count: number): string => count.toLocaleString('en');

export function historyPage(records: readonly PhaseRecord[], { date, facts, command }: HistoryAround): string {
  const { gated, stale, plain, plainStale, writes } = sumsOf(records);
  const rows = records.map((record): readonly Cell[] => {
    const [name = '', ...figures] = rowOf(record);
    return [name, verdict(sumsOf([record]).stale), ...figures];
  });
  const [all = '', ...sums] = totals(records);
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Pointsman: reads that see every acknowledged write</title><style>${STYLE}</style></head><body>
<h1>Pointsman: reads that see every acknowledged write</h1>
<p class="verdict ${isProven(records) ? 'held' : 'broken'}">${said(stale)} of ${said(gated)} gated reads were stale.
Of ${said(plain)} reads without the gate, ${said(plainStale)} were.</p>
<p>Clients wrote ${said(writes)} times through the write port of Pointsman, in a cluster of three PostgreSQL servers
that Patroni runs with etcd. Readers on the replicas remembered what had been acknowledged before each read, and
compared. ${escape(date)}.</p>
<h2>Results</h2>
${tableOf(HEAD, [...rows, [all, verdict(stale), ...sums]])}
${notesOf(records)}
<h2>How to read it</h2>
<dl>
<dt>Gated, not gated</dt><dd>Two pools with <code>causal_reads</code> (<code>late: primary</code>,
<code>late: error</code>) have most readers; a third pool without it has a few, at the same time and on the same
replicas. It shows that the checker finds stale reads where there are some.</dd>
<dt>Checks</dt><dd>Reads that come at once share one check of the gate: every fourth turn of a reader is a pipeline of
16 reads.</dd>
<dt>Stale</dt><dd>Each register has one writer, and only grows. A read shows all registers in one snapshot; it is stale
if one of them is less than what its writer was told before the read was sent. Simple and extended protocol, and
transactions with a snapshot, in turns.</dd>
<dt>Of lost writes</dt><dd>Replication is asynchronous: a failover can lose acknowledged writes. The next session of the
writer finds what is left, and a read must show that. Its later writes begin another epoch: a replica that still has
lost writes is behind them, whatever numbers it shows.</dd>
<dt>Late</dt><dd>The read got the error <code>read_late</code> within 2 s. It showed nothing, and is not counted as a
read.</dd>
<dt>Quiet, busy</dt><dd>One writer (two with <code>synchronous_commit = off</code>) that pauses 20 ms after each write,
or six without a pause. With <code>synchronous_commit = off</code> every other writer has it. Phases with a fault have
four writers that pause 2 ms, half of them with <code>synchronous_commit = off</code>.</dd></dl>
${errorsOf(records)}
${staleOf(records)}
<h2>How to run it again</h2>
<pre>${escape(command)}</pre>
<p>It needs Linux, root, Patroni, etcd, PostgreSQL and iptables (<code>npm run prerequisites</code>). What it cannot
show: everything runs on one machine, and <code>fsync</code> is off, since processes die here and no operating system
does.</p>
<h2>Surroundings</h2>
<ul>${facts.map((fact) => `<li>${escape(fact)}</li>`).join('')}</ul>
</body></html>
`;
}

function notesOf(records: readonly PhaseRecord[]): string {
  const notes = records.flatMap(({ phase, note }) => (note === undefined ? [] : [[phase.name, note]]));
  return notes.length === 0 ? '' : `<h2>Faults that did not go as planned</h2>${tableOf(['Phase', 'What'], notes)}`;
}

function errorsOf(records: readonly PhaseRecord[]): string {
  const rows = records.map(({ phase, pools, writeErrors }) => [
    phase.name,
    ...[writeErrors, pools.moving.errors, pools.strict.errors, pools.plain.errors].map(listed),
  ]);
  const head = ['Phase', 'Writers', 'late: primary', 'late: error', 'Not gated'];
  return `<details><summary>Errors that clients saw, by SQLSTATE</summary>${tableOf(head, rows)}</details>`;
}

function listed(errors: ReadonlyMap<string, number>): string {
  return [...errors].map(([code, count]) => `${code}: ${count}`).join(', ') || '–';
}

function staleOf(records: readonly PhaseRecord[]): string {
  const rows = records.flatMap(({ phase, pools }) =>
    GATED.flatMap((pool) => pools[pool].stale.slice(0, MOST_SHOWN).map((text) => [phase.name, pool, text])),
  );
  return rows.length === 0 ? '' : `<h2>Stale gated reads</h2>${tableOf(['Phase', 'Pool', 'Read'], rows)}`;
}

const MOST_SHOWN = 40;
