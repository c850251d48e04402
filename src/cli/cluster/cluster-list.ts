// `pointsman cluster list`: the members as the cluster reports them, once or again and again.
import { once } from 'node:events';
import type { ClusterReport, MemberReport } from '../../documents/cluster-documents.ts';
import { EXIT } from '../io.ts';
import { paintFor, type Paint } from '../terminal/colour.ts';
import { MEMBER_COLUMNS, tableText, widthFor, type Column } from '../terminal/terminal-table.ts';
import {
  openContext,
  valueOf,
  type ClusterCommand,
  type ClusterContext,
  type ClusterOptions,
} from './cluster-context.ts';
import { wrong } from '../command-end.ts';
import { json, jsonLine } from '../json.ts';
import { isLeader } from '../../cluster/cluster-report.ts';
import { isRunning, lagText, restartReasons, stateText } from './member-choice.ts';
import { timeText } from './times.ts';
import { untilStopped } from '../terminal/until-stopped.ts';
import { wrapped } from '../terminal/wrap.ts';

export interface ListOptions extends ClusterOptions {
  /** True: at the default interval. Else seconds. */
  readonly watch?: true | string | undefined;
}

const DEFAULT_WATCH_SECONDS = 2;
const LEAST_WATCH_SECONDS = 0.5;
const MOST_WATCH_SECONDS = 3600;

export async function list(command: ClusterCommand<ListOptions>): Promise<number> {
  const { options, io } = command;
  const seconds = watchSeconds(options.watch);
  if (Number.isNaN(seconds))
    return wrong(io, `--watch ${String(options.watch)} is not a number of seconds from 0.5 to 3600`);
  const context = await openContext(command);
  if (seconds !== undefined) return watch(context, seconds);
  const report = valueOf(await context.control.report(), io);
  io.stdout(options.json === true ? json({ ...report }) : reportText(report, context));
  return EXIT.ok;
}

/** NaN: not a usable number. */
function watchSeconds(given: ListOptions['watch']): number | undefined {
  if (given === undefined) return undefined;
  if (given === true) return DEFAULT_WATCH_SECONDS;
  const seconds = given.trim() === '' ? Number.NaN : Number(given.replace(/s$/, ''));
  return seconds >= LEAST_WATCH_SECONDS && seconds <= MOST_WATCH_SECONDS ? seconds : Number.NaN;
}

const CLEAR_SCREEN = '\u001B[H\u001B[2J\u001B[3J';

/** Ends with Ctrl-C. A cluster that does not answer is shown as such, and read again. */
async function watch(context: ClusterContext<ListOptions>, seconds: number): Promise<number> {
  const { io, options, sleep, now } = context;
  const stopping = untilStopped(io);
  const stopped = once(stopping.signal, 'abort');
  while (!stopping.signal.aborted) {
    const report = await context.control.report();
    if (options.json === true) {
      if (report.kind === 'read') io.stdout(jsonLine({ ...report.value }));
      else io.stderr(`pointsman: ${report.why}\n`);
    } else {
      const text = report.kind === 'read' ? reportText(report.value, context) : `${report.why}\n`;
      const clock = `${now().toISOString().slice(11, 19)}Z`;
      const heading = `every ${seconds} s, ${clock}${io.screen === undefined ? '' : ' (Ctrl-C ends)'}`;
      io.stdout(`${io.screen === undefined ? '' : CLEAR_SCREEN}${heading}\n${text}\n`);
    }
    await Promise.race([sleep(seconds * 1000), stopped]);
  }
  return stopping.end();
}

const COLUMNS: readonly Column[] = [...MEMBER_COLUMNS, { title: 'RESTART' }, { title: 'TAGS', wraps: true }];

export function reportText(report: ClusterReport, { io, control, now, options }: ClusterContext): string {
  const paint = paintFor(io);
  const { scope, leader, members } = report;
  const timeline = members.find(isLeader)?.timeline ?? null;
  const title = [
    `cluster ${scope ?? '(no name)'}`,
    `leader ${leader ?? 'none'}`,
    ...(timeline === null ? [] : [`timeline ${timeline}`]),
  ].join(', ');
  const hasTags = members.some(({ tags }) => Object.keys(tags).length > 0);
  const hasRestarts = members.some((one) => one.pending_restart || one.scheduled_restart !== undefined);
  const shown = COLUMNS.filter(({ title }) => (title !== 'TAGS' || hasTags) && (title !== 'RESTART' || hasRestarts));
  const rows = members.toSorted(leaderFirst).map((member) => {
    const cells = cellsOf(member, members, paint);
    return shown.map((column) => cells[COLUMNS.indexOf(column)] ?? '');
  });
  return [
    `${paint('strong', title)}\nread from ${control.source()}\n\n`,
    rows.length === 0 ? 'no members\n' : tableText(shown, rows, widthFor(io)),
    ...notes(report, now(), paint, options.seed !== undefined).map(
      (note, index) => `${index === 0 ? '\n' : ''}${note}\n`,
    ),
  ].join('');
}

function cellsOf(member: MemberReport, members: readonly MemberReport[], paint: Paint): readonly string[] {
  const { name, role, timeline, pending_restart: isPending, scheduled_restart: scheduled, tags } = member;
  const newest = Math.max(...members.map((one) => one.timeline ?? 0));
  const isBehind = timeline !== null && timeline < newest;
  return [
    isLeader(member) ? paint('strong', name) : name,
    role.replaceAll('_', ' '),
    paint(isRunning(member) ? 'good' : 'bad', stateText(member)),
    timeline === null ? '-' : paint(isBehind ? 'warn' : 'good', String(timeline)),
    lagText(member),
    [...(isPending ? [paint('warn', 'pending')] : []), ...(scheduled === undefined ? [] : ['scheduled'])].join(', '),
    Object.entries(tags)
      .map(([tag, value]) => (value === 'true' ? tag : `${tag}=${value}`))
      .join(', '),
  ];
}

function notes(report: ClusterReport, now: Date, paint: Paint, isSeeded: boolean): readonly string[] {
  const { paused, members, scheduled_switchover: switchover, refused_members: refused } = report;
  return [
    ...(paused ? [paint('warn', 'paused: no automatic failover until `pointsman cluster resume`')] : []),
    ...indicatorNotes(members).map((note) => paint('warn', wrapped(note))),
    ...(switchover === null ? [] : [switchoverText(switchover, now)]),
    ...members.flatMap(({ name, scheduled_restart: at }) =>
      at === undefined ? [] : [`restart of ${name} scheduled at ${timeText(new Date(at), now)}`],
    ),
    ...members.flatMap((member) =>
      restartReasons(member).map((reason) => `${member.name} needs a restart for ${reason}`),
    ),
    ...refused.map(({ name, why }) => paint('bad', wrapped(`${name} is not used: ${why}`))),
    ...(refused.length > 0 && isSeeded
      ? [wrapped('Without a file: name each API with --seed, or set POINTSMAN_CLUSTER_ALLOW_PORTS.')]
      : []),
  ];
}

const MEANINGS = [
  ['cluster_unlocked', 'nobody holds the leader lock'],
  ['failsafe_mode_is_active', 'the failsafe mode is active, so the configuration store does not answer'],
] as const;

/** `paused` has a line of its own. */
function indicatorNotes(members: readonly MemberReport[]): readonly string[] {
  return MEANINGS.flatMap(([indicator, meaning]) => {
    const names = members.filter(({ indicators }) => indicators.includes(indicator)).map(({ name }) => name);
    return names.length === 0 ? [] : [`${indicator} (${names.join(', ')}): ${meaning}`];
  });
}

export function switchoverText(
  { at, from, to }: NonNullable<ClusterReport['scheduled_switchover']>,
  now: Date,
): string {
  const route = [...(from === null ? [] : [` from ${from}`]), ...(to === null ? [] : [` to ${to}`])].join('');
  const date = new Date(at);
  return `switchover${route} scheduled at ${Number.isNaN(date.getTime()) ? at : timeText(date, now)}`;
}

function leaderFirst(a: MemberReport, b: MemberReport): number {
  return Number(isLeader(b)) - Number(isLeader(a)) || (a.name < b.name ? -1 : 1);
}
