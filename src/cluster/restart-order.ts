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
  const changes = members.flatMap((member) => limitedChanges(isExpected ? expected : member.pending_restart_reason));
  const raised = of(changes, 'raised');
  const lowered = of(changes, 'lowered');
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
  const changes = limitedChanges(target.pending_restart_reason);
  if (isLeader(target)) {
    const raised = of(changes, 'raised');
    const behind = report.members.filter(
      (member) => !isLeader(member) && raised.some((one) => hasPending(member, one, 'raised')),
    );
    if (behind.length === 0) return undefined;
    const first = names(behind).join(', ');
    return `${name} is the primary and ${listed(raised)} raised: restart the standbys first (${first}). A standby with \
a lower value than the primary stops replaying.`;
  }
  const lowered = of(changes, 'lowered');
  const primary = report.members.find(
    (member) => isLeader(member) && lowered.some((one) => hasPending(member, one, 'lowered')),
  );
  // With a raised parameter as well, the standby has to come first all the same.
  if (primary === undefined || of(changes, 'raised').length > 0) return undefined;
  return `${name} is a standby and ${listed(lowered)} lowered: restart the primary first (${primary.name}). A standby \
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

function hasPending(member: MemberReport, parameter: string, direction: Direction): boolean {
  return of(limitedChanges(member.pending_restart_reason), direction).includes(parameter);
}

function of(changes: readonly LimitedChange[], direction: Direction): readonly string[] {
  return [...new Set(changes.filter((one) => one.direction === direction).map(({ parameter }) => parameter))];
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
