// Members as the commands of `pointsman cluster` speak of them: their choice by name, their state and lag in words.
import { isLeader } from '../../cluster/cluster-report.ts';
import { unknownName } from '../../config/closest.ts';
import type { ClusterReport, MemberReport } from '../../documents/cluster-documents.ts';
import { sizeText } from '../../model/check.ts';
import type { MemberName } from '../../model/member.ts';
import { wrong } from '../command-end.ts';
import type { CliIo } from '../io.ts';

/** Ends the command if the cluster has no member of this name, or does not use it. */
export function chooseMember(name: MemberName, { members, refused_members }: ClusterReport, io: CliIo): MemberReport {
  const member = members.find((one) => one.name === name);
  if (member !== undefined) return member;
  const objection = refused_members.find((one) => one.name === name);
  if (objection !== undefined) return wrong(io, `${name} is not used: ${objection.why}`);
  const names = members.map((one) => one.name);
  return wrong(io, unknownName('member', name, names));
}

/** Without a name: every member. */
export function chooseMembers(name: MemberName | undefined, report: ClusterReport, io: CliIo): readonly MemberReport[] {
  return name === undefined ? report.members : [chooseMember(name, report, io)];
}

export function isRunning({ state }: Pick<MemberReport, 'state'>): boolean {
  return state === 'running' || state === 'streaming' || state === 'in archive recovery';
}

/** Patroni reads the tag as Python does: everything but these is set. */
export function hasTag({ tags }: Pick<MemberReport, 'tags'>, name: string): boolean {
  const value = tags[name];
  return value !== undefined && !['', 'false', '0', 'null', 'none'].includes(value.toLowerCase());
}

/** A leader has no lag. */
export function lagText(member: MemberReport): string {
  if (isLeader(member)) return '-';
  return member.lag_bytes === null ? 'unknown' : sizeText(member.lag_bytes);
}

export function stateText({ state }: Pick<MemberReport, 'state'>): string {
  return state === null || state === '' ? 'unknown' : state;
}

/** `max_connections 100 -> 200`; empty if this version of Patroni reports no reason. */
export function restartReasons({ pending_restart_reason: reasons = {} }: MemberReport): readonly string[] {
  return Object.entries(reasons).map(([name, { old_value: before, new_value: after }]) => {
    return `${name} ${before ?? 'unset'} -> ${after ?? 'unset'}`;
  });
}
