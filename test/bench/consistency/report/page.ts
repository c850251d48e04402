// The report as one page without any other file, for somebody who decides whether to trust Pointsman.
import type { Bounds, LateWrite } from '../judge/fence.ts';
import { isHeld } from '../judge/judge.ts';
import { modeName } from '../options.ts';
import type { FinishedRun } from '../run.ts';
import { type Cell, clock, escape, tableOf, verdict } from './html.ts';
import type { JudgedRun } from './judged-run.ts';
import { STYLE } from './style.ts';
import { classOf, timeline } from './timeline.ts';

/** More of them say nothing new. */
const MOST_SHOWN = 40;

const faultsOf = ({ history }: FinishedRun) => history.faults.filter(({ kind }) => kind !== 'repair');

export interface Surroundings {
  readonly date: string;
  /** The machine, the versions. */
  readonly facts: readonly string[];
  /** Options that chose the faults: `--minutes 10`. */
  readonly chosen: string;
  readonly bounds: Bounds;
}

export function page(runs: readonly JudgedRun[], around: Surroundings): string {
  const held = runs.filter(({ judgement }) => isHeld(judgement.laws)).length;
  const total = (count: (run: JudgedRun) => number): string =>
    runs.reduce((sum, run) => sum + count(run), 0).toLocaleString('en');
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Pointsman: consistency under faults</title><style>${STYLE}</style></head><body>
<h1>Pointsman: consistency under faults</h1>
<p class="verdict ${held === runs.length ? 'held' : 'broken'}">All laws held in ${held} of ${runs.length} modes.</p>
<p>${total(({ run }) => faultsOf(run).length)} faults were made in a PostgreSQL cluster of three members, which Patroni
runs with etcd: processes killed and frozen, members cut off, the store away, switchovers. Meanwhile
${runs[0]?.run.history.clients.length ?? 0} clients of five kinds wrote through Pointsman, and others read.
${total(({ judgement }) => judgement.counts.acknowledged)} writes were acknowledged. Afterwards each of them was looked
for in the database, and the logs of all three servers were read for writes that a server executed when it was no
primary any more. ${escape(around.date)}.</p>
<h2>Results</h2>
${summary(runs)}
<h2>How to read it</h2>
${legend(around)}
${runs.map((run, at) => section(run, at)).join('\n')}
<h2>How to run it again</h2>
${again(runs, around)}
<h2>Surroundings</h2>
<ul>${around.facts.map((fact) => `<li>${escape(fact)}</li>`).join('')}</ul>
</body></html>
`;
}

function summary(runs: readonly JudgedRun[]): string {
  const head = [
    'Mode',
    'Verdict',
    'Acknowledged',
    'Lost by Pointsman, or unexplained',
    'Lost by the cluster',
    'Twice',
    'Unexpected',
    'Unknown to the client, and there',
    'At an old primary after the bound',
  ];
  const rows = runs.map(({ mode, judgement }, at): readonly Cell[] => {
    const { laws, counts, losses, doubled, unexpected, fence } = judgement;
    const broken = laws.filter(({ faults }) => faults > 0).length;
    const otherwise = losses.filter(({ cause }) => cause === 'unexplained').length;
    return [
      { html: `<a href="#mode-${at + 1}">${escape(modeName(mode))}</a>` },
      verdict(broken),
      counts.acknowledged,
      otherwise,
      losses.length - otherwise,
      doubled.length,
      unexpected.length,
      `${counts.recovered} of ${counts.unknown}`,
      fence.beyond.length,
    ];
  });
  return tableOf(head, rows);
}

function legend({ bounds }: Surroundings): string {
  return `<dl>
<dt>Acknowledged, refused, unknown</dt><dd>A client was told that its write is committed; that it cannot have been; or
its connection ended while COMMIT was under way. An unknown write may be there or not: no proxy can know.</dd>
<dt>Lost by the cluster</dt><dd>With asynchronous replication PostgreSQL acknowledges a commit before a replica has it.
If the primary dies then, the commit is gone. A loss counts as such only with proof: each write notes its position in
the WAL and its timeline, and the position lies behind the point where the new primary's timeline forks. With
synchronous replication there is no such excuse. One other cause is Patroni's: a leader that was frozen for longer than
its ttl may take the lock back when it thaws (Patroni 3.0.2), and the new primary is rewound with all that it has
acknowledged. Such a loss needs the proof that its whole timeline was given up, and Patroni's own words in its log that
another member held the lock without a promotion.</dd>
<dt>Twice, unexpected</dt><dd>No client sends a number again, and no table has a unique key: a write that a proxy or a
driver repeated would be there twice, or twice in the logs of the servers if its rows were lost. Unexpected: never sent,
or refused for certain, and there all the same.</dd>
<dt>Success</dt><dd>Each answer names the client, the number and the server. The log of that server must have the write
and its COMMIT, on the same timeline: an answer that belongs to another session, or to nobody, is a fault.</dd>
<dt>Old primary, bound</dt><dd>From the moment another member is promoted, the one before it is an old primary; it may
be frozen, or cut off, and not know. Pointsman notices with its next probe: no write may be sent to the old one later
than ${bounds.seenMs / 1000} s after the promotion (interval and timeout of a probe). If a fault hides the new primary
from Pointsman, the limit is ${bounds.hiddenMs / 1000} s (<code>probe.silence_grace</code>). Each server logs each write
that it executes. If Patroni gave the new primary up and let the old one lead again, Pointsman may let clients write
there when all members have agreed on it for ${bounds.agreedMs / 1000} s. A write that was sent in time and executed
late is no fault only if a fault held up its server or its bytes meanwhile.</dd>
<dt>Clients beside Pointsman</dt><dd>One client per member is connected to it directly and writes when it can, for
comparison: what it wrote at an old primary is what a fence is for.</dd>
<dt>moves</dt><dd>Whether Pointsman moves live sessions to the next primary: never (off), in planned switchovers, or
always, also after a loss without warning.</dd></dl>`;
}

function section(run: JudgedRun, at: number): string {
  const { mode, seed, judgement } = run;
  const { laws, byApplication, fence, losses } = judgement;
  const applications = [...byApplication].map(([name, counts]): readonly Cell[] => [
    name,
    counts.acknowledged,
    counts.refused,
    counts.unknown,
    counts.recovered,
  ]);
  return `<h2 id="mode-${at + 1}">${escape(modeName(mode))}</h2>
<p>Seed ${seed}, ${clock(run.run.toMs - run.run.fromMs)} minutes${movesText(run)}.</p>
${tableOf(
  ['Law', 'Verdict', 'Figures'],
  laws.map(({ name, faults, said }) => [name, verdict(faults), said]),
)}
${timeline(run)}
<p class="legend"><i class="primary"></i>the server that executes writes <i class="direct"></i>writes of clients beside
Pointsman at an old primary: ${fence.direct.length} <i class="late"></i>through Pointsman: ${fence.late.length}</p>
${faultTable(run)}
<details><summary>Clients by driver</summary>
${tableOf(['Application', 'Acknowledged', 'Refused', 'Unknown', 'Unknown, and there'], applications)}</details>
${lateTable(fence.late)}
${
  losses.length === 0
    ? ''
    : `<details><summary>Lost writes with their proof (${losses.length})</summary>
${tableOf(
  ['Write', 'Cause', 'Proof'],
  losses
    .slice(0, MOST_SHOWN)
    .map(({ write, cause, proof }) => [`${write.kind} ${write.n} of client ${write.client}`, cause, proof]),
)}
${more(losses.length)}</details>`
}`;
}

function movesText({ mode, run: { moves } }: JudgedRun): string {
  if (mode.moves === 'off') return '';
  const [moved = 0, failed = 0, stayed = 0] = ['moved', 'failed', 'stayed'].map((result) => moves.get(result));
  return `; ${moved} live sessions moved to another server, ${failed} ended instead, ${stayed} stayed where they were`;
}

function faultTable({ run }: JudgedRun): string {
  const { faults } = run.history;
  const rows = faults.map((fault, at): readonly Cell[] => [
    at + 1,
    { html: `<i class="${classOf(fault)}"></i>${escape(fault.kind)}` },
    fault.on,
    clock(fault.fromMs - run.fromMs),
    `${((fault.toMs - fault.fromMs) / 1000).toFixed(1)} s`,
    fault.note ?? '',
  ]);
  return `<details open><summary>Faults (${faults.length})</summary>
${tableOf(['', 'Fault', 'On', 'At', 'Lasted', 'Note'], rows)}</details>`;
}

const LATE_HEAD = [
  'Write',
  'Executed at',
  'Promoted',
  'Sent after it',
  'Executed after it',
  'Bound',
  'The client was told',
];

function lateTable(late: readonly LateWrite[]): string {
  if (late.length === 0) return '';
  const rows = late
    .toSorted((a, b) => (b.sentAfterMs ?? 0) - (a.sentAfterMs ?? 0))
    .slice(0, MOST_SHOWN)
    .map(({ executed, promotion, sentAfterMs, executedAfterMs, outcome, boundMs }): readonly Cell[] => [
      `${executed.n} of client ${executed.client}`,
      `${executed.server}, timeline ${executed.timeline}`,
      `${promotion.server}, timeline ${promotion.timeline}`,
      `${sentAfterMs ?? '?'} ms`,
      `${executedAfterMs} ms`,
      `${boundMs} ms`,
      outcome ?? '',
    ]);
  return `<details><summary>Writes through Pointsman at an old primary (${late.length})</summary>
${tableOf(LATE_HEAD, rows)}
${more(late.length)}</details>`;
}

function more(count: number): string {
  return count > MOST_SHOWN ? `<p>… and ${count - MOST_SHOWN} more.</p>` : '';
}

function again(runs: readonly JudgedRun[], { chosen }: Surroundings): string {
  const commands = runs.map(({ mode, seed }) => {
    const of = `--moves ${mode.moves} --replication ${mode.replication}`;
    return `npm run bench:consistency -- --seed ${seed} ${chosen} ${of}`;
  });
  return `<pre>${commands.map(escape).join('\n')}</pre>
<p>It needs Linux, root, Patroni, etcd, PostgreSQL and iptables (<code>npm run prerequisites</code>). A seed gives the
same faults in the same order and the same work of each client. The moments differ from run to run, because the cluster
and the machine are real.</p>
<p>What it cannot show: everything runs on one machine, with one etcd and one Pointsman; <code>fsync</code> is off,
since processes die here and no operating system does; there are three members, all in plain text.</p>`;
}
