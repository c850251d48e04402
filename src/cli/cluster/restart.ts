// `pointsman cluster restart`: restarts PostgreSQL of one member, or of several one after the other in the order that
// their parameters need.
import type { ClusterOperation, GivenOrder } from '../../cluster/control.ts';
import type { ClusterReport, MemberReport, OperationResult } from '../../documents/cluster-documents.ts';
import type { MemberName } from '../../model/member.ts';
import { EXIT } from '../io.ts';
import { tableText, widthFor } from '../terminal/terminal-table.ts';
import { factsText } from './leader-candidates.ts';
import { openContext, valueOf, type ClusterCommand, type ClusterContext } from './cluster-context.ts';
import { fail, wrong } from '../command-end.ts';
import { orderOf, orderRefusal } from './order.ts';
import { isLeader } from '../../cluster/cluster-report.ts';
import { chooseMembers, lagText, restartReasons, stateText } from './member-choice.ts';
import { noChange, perform, type ChangeStep } from './cluster-change.ts';
import { lookAgain, untilCaughtUp, untilRunning, whenMarked } from './restart-outcome.ts';
import { farAhead, sentTime, timeOption, timeText, type ScheduleOptions } from './times.ts';
import { wrapped } from '../terminal/wrap.ts';

export interface RestartOptions extends ScheduleOptions {
  readonly role?: 'primary' | 'replica' | 'any' | undefined;
  readonly pending?: boolean | undefined;
  readonly pgVersion?: string | undefined;
  readonly timeout?: string | undefined;
  readonly primaryFirst?: boolean | undefined;
  readonly standbysFirst?: boolean | undefined;
  readonly anyOrder?: boolean | undefined;
}

/** The options, checked without the cluster. */
interface RestartWish {
  readonly role: 'primary' | 'replica' | 'any';
  readonly timeoutSeconds: number | undefined;
  readonly at: Date | undefined;
  readonly order: GivenOrder | undefined;
}

export async function restart(command: ClusterCommand<RestartOptions>, target?: MemberName): Promise<number> {
  const { options, io } = command;
  const wanted = readOptions(target, command);
  const context = await openContext(command);
  const isAfterChange = options.pending === true && wanted.order !== undefined;
  const report = isAfterChange ? await whenMarked(context) : valueOf(await context.control.report(), io);
  // An API without the field decides for itself which member needs it.
  const isOpen = options.pending !== true || !report.reports_restarts;
  const { role } = wanted;
  const chosen = chooseMembers(target, report, io)
    .filter((member) => role === 'any' || isLeader(member) === (role === 'primary'))
    .filter((member) => isOpen || member.pending_restart);
  if (chosen.length === 0) return nothing(context);
  return propose(chosen, wanted, report, context);
}

/** As Patroni takes it: `18.4`, and `9.6.24` before version 10 (P: postgresql/misc.py, postgres_version_to_int). */
const PG_VERSION = /^(?:[1-9]\d\.\d{1,2}|\d\.\d{1,2}\.\d{1,2})$/;

/** Ends the command if one is wrong. */
function readOptions(target: MemberName | undefined, command: ClusterCommand<RestartOptions>): RestartWish {
  const { options, io } = command;
  const { role, pending, pgVersion, timeout, primaryFirst = false, standbysFirst = false } = options;
  if (target !== undefined && role !== undefined)
    return wrong(io, `name either the member ${target} or --role ${role}`);
  if (target === undefined && role === undefined && pending !== true) {
    return wrong(io, 'name a member, or choose several with --role primary|replica|any or --pending');
  }
  if (pgVersion !== undefined && !PG_VERSION.test(pgVersion)) {
    return wrong(io, `--pg-version ${pgVersion} is not a version of PostgreSQL: write 18.4`);
  }
  const timeoutSeconds = timeout === undefined ? undefined : seconds(timeout);
  if (Number.isNaN(timeoutSeconds)) return wrong(io, `--timeout ${timeout} is not a duration: write 60, 90s or 2min`);
  const at = timeOption(command);
  if (primaryFirst && standbysFirst) return wrong(io, '--primary-first and --standbys-first exclude each other');
  const given = primaryFirst ? 'primary_first' : 'standbys_first';
  return { role: role ?? 'any', timeoutSeconds, at, order: primaryFirst || standbysFirst ? given : undefined };
}

/** NaN: not a duration. */
function seconds(text: string): number {
  const [, count = '', unit = 's'] = /^(\d{1,6})\s*(s|min|m|h)?$/.exec(text.trim()) ?? [];
  const length = { s: 1, min: 60, m: 60, h: 3600 }[unit] ?? 1;
  return Number(count) > 0 ? Number(count) * length : Number.NaN;
}

function nothing(context: ClusterContext<RestartOptions>): number {
  const { json, role, pending } = context.options;
  if (json !== true && pending !== true) return fail(context.io, `the cluster has no ${role ?? 'member'}`);
  return noChange('no member has a pending restart', context);
}

async function propose(
  chosen: readonly MemberReport[],
  wanted: RestartWish,
  report: ClusterReport,
  context: ClusterContext<RestartOptions>,
): Promise<number> {
  const { options, io, now } = context;
  const { order } = wanted;
  const { members, reasons } = orderOf(chosen, report, order);
  const isScheduled = wanted.at !== undefined;
  const fault = options.anyOrder === true ? undefined : orderRefusal(members, report, isScheduled, order);
  // Before the time of a single one the others may have restarted.
  const isRisk = isScheduled && members.length === 1;
  if (fault !== undefined && !isRisk) return fail(io, `${fault.why} ${WAYS[fault.kind]}`);
  const sessions = await context.sessions();
  const facts = factsText(report, context, [
    ['when', whenText(members, wanted, now())],
    ['only if', conditionText(options)],
  ]);
  const rows = members.map((member, index) => [
    String(index + 1),
    member.name,
    member.role.replaceAll('_', ' '),
    stateText(member),
    lagText(member),
    ...(sessions === undefined ? [] : [String(sessions.byMember.get(member.name) ?? 0)]),
    restartReasons(member).join(', ') || (member.pending_restart ? 'pending' : ''),
  ]);
  const columns = [
    { title: '', align: 'right' },
    { title: 'MEMBER' },
    { title: 'ROLE' },
    { title: 'STATE' },
    { title: 'LAG', align: 'right' },
    ...(sessions === undefined ? [] : [{ title: 'SESSIONS', align: 'right' } as const]),
    { title: 'PENDING', wraps: true },
  ] as const;
  const names = members.map(({ name }) => name).join(', ');
  const results = await perform(
    {
      plan: `Restart PostgreSQL\n${facts}\n${tableText(columns, rows, widthFor(io))}${reasonsText(reasons)}\n`,
      warnings: [
        ...(fault === undefined ? [] : [fault.why]),
        ...unreported(members, wanted, report, options),
        ...warningsOf(members, wanted, context),
      ],
      question: wanted.at === undefined ? `Restart ${names}?` : `Schedule the restart of ${names}?`,
      steps: members.map((member, index) => stepOf(member, members.slice(index + 1), wanted, context)),
      ...(wanted.at === undefined ? {} : { note: timeText(wanted.at, now()) }),
    },
    context,
  );
  const restarted = results.flatMap(({ step, result }) =>
    result.kind === 'done' && 'member' in step.operation ? [step.operation.member] : [],
  );
  return restarted.length === 0 ? EXIT.ok : await lookAgain(restarted, context);
}

const WAYS = {
  wrong: '--any-order restarts all the same.',
  unknown: 'Say which: --primary-first or --standbys-first.',
} as const;

function whenText({ length }: readonly MemberReport[], { at }: RestartWish, now: Date): string {
  if (at !== undefined) return timeText(at, now);
  return length === 1 ? 'now' : 'now, one after the other';
}

function reasonsText(reasons: readonly string[]): string {
  return reasons.length === 0 ? '' : `\n${reasons.map((reason) => `${wrapped(reason)}\n`).join('')}`;
}

function conditionText({ pending, pgVersion }: RestartOptions): string | undefined {
  const conditions = [
    ...(pending === true ? ['a restart is pending'] : []),
    ...(pgVersion === undefined ? [] : [`PostgreSQL is older than ${pgVersion}`]),
  ];
  return conditions.length === 0 ? undefined : conditions.join(', and ');
}

/** Without the fields of pending restarts no order can be known. */
function unreported(
  members: readonly MemberReport[],
  { order }: RestartWish,
  report: ClusterReport,
  { pending, anyOrder }: RestartOptions,
): readonly string[] {
  const isMixed = members.some(isLeader) && !members.every(isLeader);
  if (report.reports_restarts || pending !== true || !isMixed || order !== undefined || anyOrder === true) return [];
  const text = 'the members report no pending restarts: if max_connections or its kind was lowered, the primary';
  return [`${text} must restart first (--primary-first)`];
}

function warningsOf(
  members: readonly MemberReport[],
  { at }: RestartWish,
  { now }: ClusterContext<RestartOptions>,
): readonly string[] {
  const leader = members.find(isLeader);
  return [
    ...(leader === undefined ? [] : [`${leader.name} is the leader: no writes until it runs again`]),
    ...members.flatMap(({ name, scheduled_restart: earlier }) =>
      at !== undefined && earlier !== undefined ? [`a restart of ${name} is scheduled already: cancel it first`] : [],
    ),
    ...(at !== undefined && members.length > 1 ? ['all of them restart at the same time'] : []),
    ...farAhead(at, now()),
  ];
}

/** `next`: the members that restart after this one. */
function stepOf(
  member: MemberReport,
  next: readonly MemberReport[],
  { role, timeoutSeconds, at, order }: RestartWish,
  context: ClusterContext<RestartOptions>,
): ChangeStep {
  const { name } = member;
  const { pending, pgVersion, anyOrder } = context.options;
  const operation: ClusterOperation = {
    kind: 'restart',
    member: name,
    ...(role === 'any' ? {} : { role }),
    ...(pending === true ? { restart_pending: true } : {}),
    ...(pgVersion === undefined ? {} : { postgres_version: pgVersion }),
    ...(timeoutSeconds === undefined ? {} : { timeout: timeoutSeconds }),
    ...(at === undefined ? {} : { schedule: sentTime(at) }),
    ...(order === undefined ? {} : { order }),
    ...(anyOrder === true ? { any_order: true } : {}),
  };
  const title = `restart of ${name}`;
  if (at !== undefined) return { operation, title };
  const followers = isLeader(member) ? next.map((one) => one.name) : [];
  const settle = async () => (await untilRunning(member, context)) ?? (await untilCaughtUp(name, followers, context));
  const isConditional = pending === true || role !== 'any' || pgVersion !== undefined;
  return { operation, title, settle, excuse: (result) => unmet(name, result, isConditional) };
}

/** The words of Patroni and of the sandbox (P: ha.py, restart). */
const UNMET = 'restart conditions are not satisfied';

/** Several members may be asked: only some need it. The management API answers 412, with words of its own. */
function unmet(name: MemberName, result: OperationResult, isConditional: boolean): string | undefined {
  if (!('reason' in result)) return undefined;
  const isKnown = result.reason.includes(UNMET);
  const is412 = result.kind === 'precondition' && result.status === 412;
  if (!isKnown && !(isConditional && is412)) return undefined;
  const told = isKnown || result.reason === '' ? '' : `: ${result.reason}`;
  return `${name} does not meet the conditions, so it did not restart${told}`;
}
