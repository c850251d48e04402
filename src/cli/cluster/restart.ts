// `pointsman cluster restart`: restarts PostgreSQL of one member, or of several one after the other in the order that
// their parameters need.
import type { ClusterOperation, ClusterReport, MemberReport, OperationResult } from '../../cluster/control.ts';
import type { MemberName } from '../../model/member.ts';
import { EXIT } from '../io.ts';
import type { CliIo } from '../io.ts';
import { tableText, widthFor } from '../terminal/table.ts';
import { factsText } from './candidates.ts';
import { fail, openContext, readReport, wrong } from './context.ts';
import type { ChangeOptions, ClusterParts, Context } from './context.ts';
import { json } from '../json.ts';
import { orderOf, orderRefusal } from './order.ts';
import { chooseMember, isLeader, isRunning, lagText, restartReasons, stateText } from './members.ts';
import { operate } from './operate.ts';
import type { Step } from './operate.ts';
import { farWarning, parseTime, sentTime, timeText } from './times.ts';
import { wrapped } from '../terminal/wrap.ts';

export interface RestartOptions extends ChangeOptions {
  readonly role?: 'primary' | 'replica' | 'any' | undefined;
  readonly pending?: boolean | undefined;
  readonly pgVersion?: string | undefined;
  readonly timeout?: string | undefined;
  readonly at?: string | undefined;
  readonly anyOrder?: boolean | undefined;
}

/** The options, checked without the cluster. */
interface Wanted {
  readonly target: MemberName | undefined;
  readonly role: 'primary' | 'replica' | 'any';
  readonly timeoutSeconds: number | undefined;
  readonly at: Date | undefined;
}

export async function restart(
  target: MemberName | undefined,
  options: RestartOptions,
  io: CliIo,
  parts: ClusterParts,
): Promise<number> {
  const wanted = readOptions(target, options, parts.now());
  if (typeof wanted === 'string') return wrong(io, wanted);
  const context = await openContext(options, io, parts);
  if (typeof context === 'number') return context;
  const report = await readReport(context);
  if (report === undefined) return EXIT.failure;
  const chosen = chooseMembers(wanted, options, report);
  if (typeof chosen === 'string') return wrong(io, chosen);
  if (chosen.length === 0) return nothing(options, context);
  return propose(chosen, wanted, report, context);
}

/** As Patroni takes it: `18.4`, and `9.6.24` before version 10 (P: postgresql/misc.py, postgres_version_to_int). */
const PG_VERSION = /^(?:[1-9]\d\.\d{1,2}|\d\.\d{1,2}\.\d{1,2})$/;

/** A text: what is wrong. */
function readOptions(target: MemberName | undefined, options: RestartOptions, now: Date): Wanted | string {
  const { role, pending, pgVersion, timeout, at } = options;
  if (target !== undefined && role !== undefined) return `name either the member ${target} or --role ${role}`;
  if (target === undefined && role === undefined && pending !== true) {
    return 'name a member, or choose several with --role primary|replica|any or --pending';
  }
  if (pgVersion !== undefined && !PG_VERSION.test(pgVersion)) {
    return `--pg-version ${pgVersion} is not a version of PostgreSQL: write 18.4`;
  }
  const timeoutSeconds = timeout === undefined ? undefined : seconds(timeout);
  if (Number.isNaN(timeoutSeconds)) return `--timeout ${timeout} is not a duration: write 60, 90s or 2min`;
  const time = at === undefined ? undefined : parseTime(at, now);
  if (time?.kind === 'invalid') return `--at ${time.why}`;
  return { target, role: role ?? 'any', timeoutSeconds, at: time?.at };
}

/** NaN: not a duration. */
function seconds(text: string): number {
  const [, count = '', unit = 's'] = /^(\d{1,6})\s*(s|min|m|h)?$/.exec(text.trim()) ?? [];
  const length = { s: 1, min: 60, m: 60, h: 3600 }[unit] ?? 1;
  return Number(count) > 0 ? Number(count) * length : Number.NaN;
}

/** A text: what is wrong. */
function chooseMembers(
  { target, role }: Wanted,
  { pending }: RestartOptions,
  report: ClusterReport,
): readonly MemberReport[] | string {
  const choice = target === undefined ? undefined : chooseMember(target, report);
  if (choice?.kind === 'unknown') return choice.why;
  const ofRole = report.members.filter((member) => role === 'any' || isLeader(member) === (role === 'primary'));
  const chosen = choice === undefined ? ofRole : [choice.member];
  return chosen.filter((member) => pending !== true || member.pending_restart);
}

function nothing({ json: isJson, role, pending }: RestartOptions, { io }: Context): number {
  if (isJson === true) io.stdout(json({ results: [], not_done: [] }));
  else if (pending === true) io.stdout('no member has a pending restart\n');
  else return fail(io, `the cluster has no ${role ?? 'member'}`);
  return EXIT.ok;
}

async function propose(
  chosen: readonly MemberReport[],
  wanted: Wanted,
  report: ClusterReport,
  context: Context<RestartOptions>,
): Promise<number> {
  const { options, io, now, control } = context;
  const { members, reasons } = orderOf(chosen, report);
  const isScheduled = wanted.at !== undefined;
  const objection = options.anyOrder === true ? undefined : orderRefusal(members, isScheduled, report);
  // Before the time of a single one the others may have restarted.
  const isRisk = isScheduled && members.length === 1;
  if (objection !== undefined && !isRisk) return fail(io, `${objection} --any-order restarts all the same.`);
  const sessions = await context.sessions();
  const facts = factsText([
    ['cluster', `${report.scope ?? '(no name)'}, by ${control.source}`],
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
  return operate(
    {
      plan: `Restart PostgreSQL\n${facts}\n${tableText(columns, rows, widthFor(io))}${reasonsText(reasons)}\n`,
      warnings: [
        ...(objection === undefined ? [] : [objection]),
        ...unknownOrder(members, report),
        ...warningsOf(members, wanted, context),
      ],
      question: wanted.at === undefined ? `Restart ${names}?` : `Schedule the restart of ${names}?`,
      steps: members.map((member) => stepOf(member, wanted, context)),
      ...(wanted.at === undefined ? {} : { note: timeText(wanted.at, now()) }),
    },
    context,
  );
}

function whenText({ length }: readonly MemberReport[], { at }: Wanted, now: Date): string {
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

/** Patroni before 3.3 reports no values, so that nothing can be refused. */
function unknownOrder(members: readonly MemberReport[], { members: all }: ClusterReport): readonly string[] {
  const leader = members.find(isLeader);
  const behind = all.filter((one) => one.pending_restart && !isLeader(one) && !members.includes(one));
  const isUnknown = leader?.pending_restart === true && leader.pending_restart_reason === undefined;
  if (!isUnknown || behind.length === 0) return [];
  const names = behind.map(({ name }) => name).join(', ');
  return [
    `${names} must restart before ${leader.name} if max_connections or its kind was raised; ` +
      'this version of Patroni does not report what changed',
  ];
}

function warningsOf(
  members: readonly MemberReport[],
  { at }: Wanted,
  { now }: Context<RestartOptions>,
): readonly string[] {
  const leader = members.find(isLeader);
  return [
    ...(leader === undefined ? [] : [`${leader.name} is the leader: no writes until it runs again`]),
    ...members.flatMap(({ name, scheduled_restart: earlier }) =>
      at !== undefined && earlier !== undefined ? [`a restart of ${name} is scheduled already: cancel it first`] : [],
    ),
    ...(at !== undefined && members.length > 1 ? ['all of them restart at the same time'] : []),
    ...(at === undefined ? [] : [farWarning(at, now())].filter((text) => text !== undefined)),
  ];
}

function stepOf(member: MemberReport, wanted: Wanted, context: Context<RestartOptions>): Step {
  const { name } = member;
  const { pending, pgVersion, anyOrder } = context.options;
  const { role, timeoutSeconds, at } = wanted;
  const operation: ClusterOperation = {
    kind: 'restart',
    member: name,
    ...(role === 'any' ? {} : { role }),
    ...(pending === true ? { restart_pending: true } : {}),
    ...(pgVersion === undefined ? {} : { postgres_version: pgVersion }),
    ...(timeoutSeconds === undefined ? {} : { timeout: timeoutSeconds }),
    ...(at === undefined ? {} : { schedule: sentTime(at) }),
    ...(anyOrder === true ? { any_order: true } : {}),
  };
  const title = `restart of ${name}`;
  if (at !== undefined) return { operation, title };
  return { operation, title, settle: () => untilRunning(member, context), excuse: (result) => unmet(name, result) };
}

/** The words of Patroni and of the sandbox (P: ha.py, restart). Several members may be asked: only some need it. */
function unmet(name: MemberName, result: OperationResult): string | undefined {
  const isUnmet = 'reason' in result && result.reason.includes('restart conditions are not satisfied');
  return isUnmet ? `${name} does not meet the conditions, so it did not restart` : undefined;
}

const POLL_MS = 1000;
const MOST_WAIT_MS = 120_000;

/** The members publish a cleared flag with their next heartbeat. */
const MOST_WAIT_FOR_FLAG_MS = 15_000;

/** The answer comes when PostgreSQL runs again. The cluster learns of it up to a heartbeat later. */
async function untilRunning(
  { name, state }: MemberReport,
  { control, now, sleep }: Context<RestartOptions>,
): Promise<string | undefined> {
  const since = now().getTime();
  for (;;) {
    const report = await control.report();
    const member = report.kind === 'read' ? report.value.members.find((one) => one.name === name) : undefined;
    const isBack = member !== undefined && isRunning(member) && (state !== 'streaming' || member.state === 'streaming');
    const waitedMs = now().getTime() - since;
    // A flag may stay for another reason: the next step of the order finds out.
    if (isBack && (!member.pending_restart || waitedMs >= MOST_WAIT_FOR_FLAG_MS)) return undefined;
    if (waitedMs >= MOST_WAIT_MS) {
      const seen =
        member === undefined ? 'it is not in the report of the cluster' : `its state is ${stateText(member)}`;
      return `${name} restarted, but did not come back within ${MOST_WAIT_MS / 60_000} min: ${seen}`;
    }
    await sleep(POLL_MS);
  }
}
