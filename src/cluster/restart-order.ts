// The order in which members must restart after a change of the parameters that a standby must not have lower than the
// primary (https://www.postgresql.org/docs/current/hot-standby.html#HOT-STANDBY-ADMIN). With a lower value a standby
// stops replaying. Pure.
import type { MemberName } from '../model/member.ts';
import type { ParameterChanges } from './configuration.ts';
import { restartNeeds } from './configuration.ts';
import type { ClusterReport, MemberReport } from './control.ts';

const LIMITED: readonly string[] = [
  'max_connections',
  'max_prepared_transactions',
  'max_locks_per_transaction',
  'max_wal_senders',
  'max_worker_processes',
];

type Direction = 'raised' | 'lowered';

export interface RestartStep {
  /** These may restart together, as far as the order goes. */
  readonly members: readonly MemberName[];
  /** One sentence. */
  readonly why: string;
}

/**
 * The steps in which the members that need a restart should restart. `expected`: changes that are not applied yet, so
 * no member is marked; every member will need the restart.
 */
export function restartOrder(report: ClusterReport, expected?: ParameterChanges): readonly RestartStep[] {
  const isExpected = expected !== undefined && restartNeeds(expected).needed.length > 0;
  const members = report.members.filter((member) => isExpected || member.pending_restart);
  const standbys = names(members.filter((member) => !isLeader(member)));
  const primary = names(members.filter(isLeader));
  const { raised, lowered } = directions(isExpected ? limitedChanges(expected) : members.flatMap(pendingOf));
  const steps =
    raised.length === 0 && lowered.length > 0
      ? [
          {
            members: primary,
            why: `The primary first: ${listed(lowered)} lowered, and a standby must not be below it.`,
          },
          { members: standbys, why: 'Then the standbys.' },
        ]
      : [
          {
            members: standbys,
            why:
              raised.length > 0
                ? `The standbys first: ${listed(raised)} raised, and a standby must not be below the primary.`
                : 'The standbys first, so that the clients of the primary are interrupted last.',
          },
          { members: primary, why: 'Then the primary.' },
          ...(raised.length > 0 && lowered.length > 0
            ? [{ members: standbys, why: `The standbys again: only now they take ${listed(lowered)} lowered.` }]
            : []),
        ];
  return steps.filter((step) => step.members.length > 0);
}

/**
 * The reason why this member must not restart now; undefined while nothing speaks against it. Without the old and new
 * values of the parameters (Patroni before 3.3) the direction of a change is not known, and nothing is refused.
 */
export function wrongOrder(report: ClusterReport, name: MemberName): string | undefined {
  const target = report.members.find((member) => member.name === name);
  if (target === undefined) return undefined;
  const own = pendingOf(target).map(({ parameter }) => parameter);
  const { raised, lowered } = directions(report.members.flatMap(pendingOf));
  if (isLeader(target)) {
    const ahead = raised.filter((parameter) => own.includes(parameter));
    const isBehind = (member: MemberReport): boolean =>
      pendingOf(member).some(({ parameter, direction }) => direction === 'raised' && ahead.includes(parameter));
    const behind = names(report.members.filter((member) => !isLeader(member) && isBehind(member)));
    if (behind.length === 0) return undefined;
    return `${name} is the primary and ${listed(ahead)} raised: restart the standbys first (${behind.join(', ')}). \
A standby with a lower value than the primary stops replaying.`;
  }
  const waiting = lowered.filter((parameter) => own.includes(parameter));
  const primary = report.members.find(
    (member) => isLeader(member) && pendingOf(member).some(({ parameter }) => waiting.includes(parameter)),
  );
  // With a raised parameter as well, the standby has to come first all the same.
  if (primary === undefined || raised.some((parameter) => own.includes(parameter))) return undefined;
  return `${name} is a standby and ${listed(waiting)} lowered: restart the primary first (${primary.name}). A standby \
keeps its old value until it has caught up with the restarted primary.`;
}

interface LimitedChange {
  readonly parameter: string;
  readonly direction: Direction;
}

function limitedChanges(changes: ParameterChanges | undefined): readonly LimitedChange[] {
  return Object.entries(changes ?? {}).flatMap(([name, { old_value: before, new_value: after }]) => {
    const parameter = name.toLowerCase();
    if (!LIMITED.includes(parameter) || before === null || after === null) return [];
    const [old, now] = [Number(before), Number(after)];
    if (Number.isNaN(old) || Number.isNaN(now) || old === now) return [];
    return [{ parameter, direction: now > old ? ('raised' as const) : ('lowered' as const) }];
  });
}

function pendingOf({ pending_restart_reason: reason }: MemberReport): readonly LimitedChange[] {
  return limitedChanges(reason);
}

/**
 * Members may disagree on the new value: one with a value of its own (ALTER SYSTEM) reports that one, although the
 * dynamic configuration overrides it. Then the parameter counts as raised, which puts no standby below the primary.
 */
function directions(changes: readonly LimitedChange[]): Readonly<Record<Direction, readonly string[]>> {
  const of = (direction: Direction): readonly string[] => [
    ...new Set(changes.filter((one) => one.direction === direction).map(({ parameter }) => parameter)),
  ];
  const raised = of('raised');
  return { raised, lowered: of('lowered').filter((parameter) => !raised.includes(parameter)) };
}

function isLeader({ role }: MemberReport): boolean {
  return role === 'leader' || role === 'standby_leader';
}

function names(members: readonly MemberReport[]): readonly MemberName[] {
  return members.map(({ name }) => name);
}

/** `max_connections is`, `max_connections and max_wal_senders are` */
function listed(parameters: readonly string[]): string {
  return `${parameters.join(' and ')} ${parameters.length === 1 ? 'is' : 'are'}`;
}
