// The order in which members must restart after a change of the parameters that a standby must not have lower than the
// primary (https://www.postgresql.org/docs/current/hot-standby.html#HOT-STANDBY-ADMIN). With a lower value a standby
// stops replaying. Pure.
import type { MemberName } from '../model/member.ts';
import type { ParameterChange } from '../patroni/restart-state.ts';
import { isLeader } from './cluster-report.ts';
import { restartNeeds, type ParameterChanges } from './configuration-change.ts';
import type { GivenOrder } from './control.ts';
import type { ClusterReport, MemberReport } from '../documents/cluster-documents.ts';

/** By name: the value where the dynamic configuration has none (PostgreSQL's, and Patroni's CMDLINE_OPTIONS). */
const LIMITED: ReadonlyMap<string, string> = new Map([
  ['max_connections', '100'],
  ['max_prepared_transactions', '0'],
  ['max_locks_per_transaction', '64'],
  ['max_wal_senders', '10'],
  ['max_worker_processes', '8'],
]);

type ChangeDirection = 'raised' | 'lowered' | 'unknown';

export interface RestartStep {
  /** These may restart together, as far as the order goes. */
  readonly members: readonly MemberName[];
  /** One sentence. */
  readonly why: string;
}

/**
 * The steps in which the members that need a restart should restart. `expected`: changes that are not applied yet, so
 * no member is marked; every member will need the restart. Undefined: the order depends on a change whose values no
 * member reports (Patroni before 3.3 reports none), and no order is given.
 */
export function restartOrder(
  report: ClusterReport,
  { expected, order }: { readonly expected?: ParameterChanges; readonly order?: GivenOrder | undefined } = {},
): readonly RestartStep[] | undefined {
  const isExpected = expected !== undefined && restartNeeds(expected).needed.length > 0;
  const members = report.members.filter((member) => isExpected || member.pending_restart);
  const standbys = names(members.filter((member) => !isLeader(member)));
  const primary = names(members.filter(isLeader));
  const changes = isExpected ? limitedChanges(againstRunning(expected, report)) : members.flatMap(pendingOf);
  const { raised, lowered } = directions(changes);
  const isUnknown = (isExpected ? changes : members.filter((member) => !isLeader(member)).flatMap(pendingOf)).some(
    ({ direction }) => direction === 'unknown',
  );
  const isOpen = order === undefined && raised.length === 0 && isUnknown;
  if (isOpen && standbys.length > 0 && primary.length > 0) return undefined;
  const isPrimaryFirst = order === undefined ? raised.length === 0 && lowered.length > 0 : order === 'primary_first';
  const whyPrimary =
    lowered.length > 0
      ? `The primary first: ${listed(lowered)} lowered, and a standby must not be below it.`
      : 'The primary first, as you say.';
  const whyStandbys =
    raised.length > 0
      ? `The standbys first: ${listed(raised)} raised, and a standby must not be below the primary.`
      : 'The standbys first, so that the clients of the primary are interrupted last.';
  const again = { members: standbys, why: `The standbys again: only now they take ${listed(lowered)} lowered.` };
  const steps = isPrimaryFirst
    ? [
        { members: primary, why: whyPrimary },
        { members: standbys, why: 'Then the standbys, when they have caught up.' },
      ]
    : [
        { members: standbys, why: whyStandbys },
        { members: primary, why: 'Then the primary.' },
        ...(raised.length > 0 && lowered.length > 0 ? [again] : []),
      ];
  return steps.filter((step) => step.members.length > 0);
}

/** `unknown`: the right order is not known. `why`: one sentence, or two. */
export interface OrderFault {
  readonly kind: 'wrong' | 'unknown';
  readonly why: string;
}

/**
 * The reason why this member must not restart now; undefined while nothing speaks against it. `order`: what the
 * operator knows of changes whose values no member reports.
 */
export function orderFault(report: ClusterReport, name: MemberName, order?: GivenOrder): OrderFault | undefined {
  const target = report.members.find((member) => member.name === name);
  if (target === undefined || !target.pending_restart) return undefined;
  return isLeader(target) ? faultOfPrimary(target, report, order) : faultOfStandby(target, report, order);
}

function faultOfPrimary(target: MemberReport, report: ClusterReport, order?: GivenOrder): OrderFault | undefined {
  const { name } = target;
  const { raised } = directions(report.members.flatMap(pendingOf));
  const standbys = report.members.filter((member) => !isLeader(member));
  const behind = standbys.filter((member) =>
    pendingOf(member).some(
      (one) => one.direction === 'raised' && raised.includes(one.parameter) && mayHave(target, one.parameter),
    ),
  );
  if (behind.length > 0) {
    const ahead = raised.filter((parameter) => behind.flatMap(pendingOf).some((one) => one.parameter === parameter));
    const why = `${name} is the primary and ${listed(ahead)} raised: restart the standbys first \
(${names(behind).join(', ')}). A standby with a lower value than the primary stops replaying.`;
    return { kind: 'wrong', why };
  }
  const unknown = names(
    standbys.filter((member) => pendingOf(member).some(({ direction }) => direction === 'unknown')),
  );
  if (unknown.length === 0 || order === 'primary_first') return undefined;
  if (order === undefined) return unknownOrder([name, ...unknown]);
  return { kind: 'wrong', why: `The standbys come first: restart ${unknown.join(', ')} before ${name}, the primary.` };
}

function faultOfStandby(target: MemberReport, report: ClusterReport, order?: GivenOrder): OrderFault | undefined {
  const { name } = target;
  const own = pendingOf(target);
  const { raised, lowered } = directions(report.members.flatMap(pendingOf));
  const primary = report.members.find((member) => isLeader(member) && member.pending_restart);
  // With a raised parameter as well, the standby has to come first all the same.
  if (primary === undefined || own.some(({ parameter }) => raised.includes(parameter))) return undefined;
  const waiting = lowered.filter(
    (parameter) => own.some((one) => one.parameter === parameter) && mayHave(primary, parameter),
  );
  if (waiting.length > 0) {
    const why = `${name} is a standby and ${listed(waiting)} lowered: restart the primary first (${primary.name}). A \
standby keeps its old value until it has caught up with the restarted primary.`;
    return { kind: 'wrong', why };
  }
  if (!own.some(({ direction }) => direction === 'unknown') || order === 'standbys_first') return undefined;
  if (order === undefined) return unknownOrder([primary.name, name]);
  return { kind: 'wrong', why: `The primary comes first: restart ${primary.name} before ${name}, a standby.` };
}

function unknownOrder([primary = '', ...standbys]: readonly MemberName[]): OrderFault {
  const why = `${primary} (the primary) and ${standbys.join(', ')} need a restart, and do not report which parameters \
changed. If max_connections or its kind is lowered, the primary must restart first; if it is raised, the standbys.`;
  return { kind: 'unknown', why };
}

interface LimitedChange {
  readonly parameter: string;
  readonly direction: ChangeDirection;
}

/** In place of the parameters that a member does not report. */
const ANY = 'a parameter';

/** A change of this parameter. */
function mayHave(member: MemberReport, parameter: string): boolean {
  return pendingOf(member).some((one) => one.parameter === parameter || one.parameter === ANY);
}

/** Without parameters that have the same value before and after. */
function limitedChanges(changes: ParameterChanges): readonly LimitedChange[] {
  return Object.entries(changes).flatMap(([name, change]): readonly LimitedChange[] => {
    const parameter = name.toLowerCase();
    const direction = LIMITED.has(parameter) ? directionOf(change) : undefined;
    return direction === undefined ? [] : [{ parameter, direction }];
  });
}

/** Undefined: the same value. */
function directionOf({ old_value: before, new_value: after }: ParameterChange): ChangeDirection | undefined {
  const [old, now] = [Number(before ?? Number.NaN), Number(after ?? Number.NaN)];
  if (Number.isNaN(old) || Number.isNaN(now)) return 'unknown';
  if (old === now) return undefined;
  return now > old ? 'raised' : 'lowered';
}

function pendingOf({
  pending_restart: isPending,
  pending_restart_reason: reason,
}: MemberReport): readonly LimitedChange[] {
  if (!isPending) return [];
  const isReported = reason !== undefined && Object.keys(reason).length > 0;
  return isReported ? limitedChanges(reason) : [{ parameter: ANY, direction: 'unknown' }];
}

/**
 * Changes of the configuration, compared with the values in use. Those differ from the configuration where a restart
 * is pending already; if the members do not report them, they are not known.
 */
function againstRunning(expected: ParameterChanges, { members }: ClusterReport): ParameterChanges {
  const entries = Object.entries(expected).map(([name, { old_value: before, new_value: after }]) => {
    const standard = LIMITED.get(name.toLowerCase()) ?? null;
    const change = { old_value: before ?? standard, new_value: after ?? standard };
    return [name, { ...change, ...running(name, members) }] as const;
  });
  return Object.fromEntries(entries);
}

function running(name: string, members: readonly MemberReport[]): Partial<ParameterChange> {
  const pending = members.filter(({ pending_restart: isPending }) => isPending);
  if (pending.flatMap(pendingOf).some(({ parameter }) => parameter === ANY)) return { old_value: null };
  const reported = pending.find(({ pending_restart_reason: reason }) => reason?.[name] !== undefined);
  return reported === undefined ? {} : { old_value: reported.pending_restart_reason?.[name]?.old_value ?? null };
}

/**
 * Members may disagree on the new value: one with a value of its own (ALTER SYSTEM) reports that one, although the
 * dynamic configuration overrides it. Then the parameter counts as raised, which puts no standby below the primary.
 */
function directions(
  changes: readonly LimitedChange[],
): Readonly<Record<Exclude<ChangeDirection, 'unknown'>, readonly string[]>> {
  const of = (direction: ChangeDirection): readonly string[] => [
    ...new Set(changes.filter((one) => one.direction === direction).map(({ parameter }) => parameter)),
  ];
  const raised = of('raised');
  return { raised, lowered: of('lowered').filter((parameter) => !raised.includes(parameter)) };
}

function names(members: readonly MemberReport[]): readonly MemberName[] {
  return members.map(({ name }) => name);
}

/** `max_connections is`, `max_connections and max_wal_senders are` */
function listed(parameters: readonly string[]): string {
  return `${parameters.join(' and ')} ${parameters.length === 1 ? 'is' : 'are'}`;
}
