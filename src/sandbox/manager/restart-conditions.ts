// Decides whether a requested restart happens on this member (management API): every given condition must hold. Pure.
import type { MemberView, RestartGuards, ScheduledRestart } from './view.ts';

/** The facts that the conditions are compared with. */
export type RestartSubject = Pick<MemberView, 'role' | 'serverVersion' | 'pendingRestart'>;

/** Undefined when the restart may happen. */
export function whyNoRestart(conditions: RestartGuards, subject: RestartSubject): string | undefined {
  const { role, postgres_version: version, restart_pending: isPendingOnly = false } = conditions;
  if (role !== undefined && role !== subject.role) return `role is ${subject.role}, not ${role}`;
  if (version !== undefined) {
    const bound = versionNumber(version);
    if (subject.serverVersion === undefined) return 'PostgreSQL version is not known';
    if (bound === undefined || subject.serverVersion >= bound) return `PostgreSQL version is not lower than ${version}`;
  }
  if (isPendingOnly && Object.keys(subject.pendingRestart).length === 0) return 'pending restart flag is not set';
  return undefined;
}

/**
 * `18.4` is 180004, `18` is 180000, and before version 10 `9.6.3` was 90603 (PQserverVersion). Undefined for other
 * texts.
 */
export function versionNumber(text: string): number | undefined {
  const match = /^(\d{1,3})(?:\.(\d{1,2}))?(?:\.(\d{1,2}))?$/.exec(text);
  if (match === null) return undefined;
  const [major = 0, second = 0, third = 0] = match.slice(1).map((part: string | undefined) => Number(part ?? 0));
  return major >= 10 ? major * 10_000 + second : major * 10_000 + second * 100 + third;
}

/** A scheduled restart is void when PostgreSQL was restarted since: its purpose is fulfilled. */
export function judgeSchedule(
  scheduled: ScheduledRestart,
  postmasterStartTime: string | undefined,
  now: Date,
): 'wait' | 'now' | 'void' {
  const expected = scheduled.postmaster_start_time;
  if (expected !== undefined && postmasterStartTime !== undefined && expected !== postmasterStartTime) return 'void';
  return Date.parse(scheduled.schedule) <= now.getTime() ? 'now' : 'wait';
}
