// Which members could become the leader, and what speaks against each. Pure.
import type { ClusterReport, MemberReport } from '../../documents/cluster-documents.ts';
import type { MemberName } from '../../model/member.ts';
import { sizeText } from '../../model/check.ts';
import { tableText } from '../terminal/terminal-table.ts';
import { isLeader } from '../../cluster/cluster-report.ts';
import { hasTag, isRunning, lagText, stateText } from './member-choice.ts';
import type { ClusterContext } from './cluster-context.ts';
import type { SessionCounts } from './member-sessions.ts';

/** From here on a lag is worth a warning: a switchover waits for it, a failover loses it. Bytes. */
const NOTABLE_LAG = 1024 * 1024;

export interface Judgement {
  /** Why the management API refuses this candidate. */
  readonly refusal?: string;
  /** Each names the member. */
  readonly warnings: readonly string[];
  /** The warnings for the member's own row, without its name. */
  readonly note: string;
}

/** Patroni 4.1, api.py is_failover_possible and ha.py failover_limitation. */
export function judgeCandidate(member: MemberReport, { members }: Pick<ClusterReport, 'members'>): Judgement {
  const { name, state, timeline, lag_bytes: lag } = member;
  if (hasTag(member, 'nofailover'))
    return { refusal: `${name} has the tag nofailover`, warnings: [], note: 'tag nofailover' };
  const current = members.find(isLeader)?.timeline ?? 0;
  const expectsStreaming = members.some((one) => one.state === 'streaming');
  const states = [
    ...(isRunning(member) ? [] : [`not running (state ${stateText(member)})`]),
    ...(isRunning(member) && expectsStreaming && state !== 'streaming'
      ? [`not streaming from the leader (state ${stateText(member)})`]
      : []),
    ...(timeline !== null && timeline < current ? [`on timeline ${timeline}, the leader on ${current}`] : []),
  ];
  const [lagWarning, lagNote] =
    lag === null
      ? [[`the lag of ${name} is unknown`], ['lag unknown']]
      : lag >= NOTABLE_LAG
        ? [[`${name} lags ${sizeText(lag)} behind`], [`lags ${sizeText(lag)} behind`]]
        : [[], []];
  return {
    warnings: [...states.map((what) => `${name} is ${what}`), ...lagWarning],
    note: [...states, ...lagNote].join('; '),
  };
}

export function replicas({ members }: Pick<ClusterReport, 'members'>): readonly MemberReport[] {
  return members.filter((member) => !isLeader(member));
}

/** The replicas with state, lag and objections. `chosen` is marked. */
export function candidatesTable(report: ClusterReport, chosen: MemberName | undefined, width: number): string {
  const rows = replicas(report).map((member) => {
    const { note } = judgeCandidate(member, report);
    return [member.name === chosen ? `${member.name} *` : member.name, stateText(member), lagText(member), note];
  });
  const columns = [
    { title: 'CANDIDATE' },
    { title: 'STATE' },
    { title: 'LAG', align: 'right' },
    { title: 'NOTE', wraps: true },
  ] as const;
  return tableText(columns, rows, width);
}

/** Undefined: no running Pointsman answers. */
export function sessionsText(member: MemberName, sessions: SessionCounts | undefined): string | undefined {
  if (sessions === undefined) return undefined;
  const count = sessions.byMember.get(member) ?? 0;
  return `${count === 1 ? '1 session' : `${count} sessions`} of the Pointsman at ${sessions.from}`;
}

/** Aligned lines, the ones without a text left out. The first one names the cluster. */
export function factsText(
  { scope }: ClusterReport,
  { control }: ClusterContext,
  facts: readonly (readonly [label: string, text: string | undefined])[],
): string {
  const cluster = ['cluster', `${scope ?? '(no name)'}, by ${control.source()}`] as const;
  const shown = [cluster, ...facts].filter(([, text]) => text !== undefined);
  const width = Math.max(0, ...shown.map(([label]) => label.length));
  return shown.map(([label, text]) => `  ${label.padEnd(width)}  ${text}\n`).join('');
}
