// Members as the commands of `pointsman cluster` speak of them: their choice by name, their state and lag in words.
import { unknownName } from '../../config/closest.ts';
import type { ClusterReport, MemberReport } from '../../documents/cluster-documents.ts';
import { sizeText } from '../../model/check.ts';
import type { MemberName } from '../../model/member.ts';

export type MemberChoice =
  | { readonly kind: 'member'; readonly member: MemberReport }
  | { readonly kind: 'unknown'; readonly why: string };

export function chooseMember(name: MemberName, { members, refused_members: refused }: ClusterReport): MemberChoice {
  const member = members.find((one) => one.name === name);
  if (member !== undefined) return { kind: 'member', member };
  const objection = refused.find((one) => one.name === name);
  if (objection !== undefined) return { kind: 'unknown', why: `${name} is not used: ${objection.why}` };
  const names = members.map((one) => one.name);
  return { kind: 'unknown', why: unknownName('member', name, names) };
}

export function isLeader({ role }: Pick<MemberReport, 'role'>): boolean {
  return role === 'leader' || role === 'standby_leader';
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
