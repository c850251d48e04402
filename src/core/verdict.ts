// Judges one answer for one check. The status code is the answer that the API promises. The body may only tighten it,
// never loosen it (guarantees.md: evidence).
import { failureOf, sizeText, type Check } from '../model/check.ts';
import { shown } from '../model/printable.ts';
import type { MemberStatus, Role } from '../model/member-status.ts';
import type { Why } from './why.ts';

/**
 * `not_now`: the API says yes, but the body shows that PostgreSQL is not ready (promoting, starting, stopping,
 * crashed). No new sessions, and PostgreSQL itself ends the live ones.
 */
export type Verdict =
  | { readonly kind: 'positive'; readonly why: Why }
  | { readonly kind: 'not_now'; readonly why: Why }
  | { readonly kind: 'negative'; readonly why: Why };

/** Judges an answer to `check` itself. */
export function judge(check: Check, status: 200 | 503, body: MemberStatus | undefined): Verdict {
  const ruledOut = body === undefined ? undefined : ruleOut(check, body);
  if (status === 503) return ruledOut ?? refusal(check, body);
  if (check.family === 'primary' && body?.role !== undefined && body.role !== 'primary') {
    return { kind: 'not_now', why: { code: 'promoting', detail: `role ${body.role}` } };
  }
  if (ruledOut !== undefined && ruledOut.why.code !== 'not_running') return ruledOut;
  if (check.family === 'primary' && hasStarted(body)) return { kind: 'positive', why: { code: 'positive' } };
  if (body?.state !== undefined && body.state !== 'running') {
    return { kind: 'not_now', why: { code: 'not_running', detail: `state ${body.state}` } };
  }
  if (check.lagBytes !== undefined && body?.replayed === 'invalid') {
    return { kind: 'not_now', why: { code: 'lagging', detail: 'replay position unknown' } };
  }
  return { kind: 'positive', why: { code: 'positive' } };
}

/**
 * Judges a check that was not asked, by the body of another one: negative when the body excludes the member, undefined
 * when the check has to be asked. So a steady member costs one request per round: a primary's body excludes it from
 * /replica, a replica's body from /primary.
 */
export function ruleOut(check: Check, body: MemberStatus): Verdict | undefined {
  switch (check.family) {
    case 'primary':
      return isPlainlyNotPrimary(body) ? no('wrong_role', roleText(body.role)) : undefined;
    case 'standby-leader':
      return body.role === 'primary' ? no('wrong_role', roleText('primary')) : undefined;
    case 'replica':
      if (body.role === 'primary') return no('wrong_role', roleText('primary'));
      return ruleOutReader(check, body);
    case 'read-only':
      return ruleOutReader(check, body);
    case 'health':
      return body.state === undefined || body.state === 'running'
        ? undefined
        : no('not_running', `state ${body.state}`);
    case 'leader':
    case 'liveness':
    case 'readiness':
      return undefined;
  }
}

/**
 * Patroni reports `starting` for up to a second too long. A primary's position comes from a query, so PostgreSQL
 * already takes writes.
 */
function hasStarted(body: MemberStatus | undefined): boolean {
  return body?.role === 'primary' && body.state === 'starting' && typeof body.location === 'number';
}

/** Patroni reports the role `promoted` while SQL fails right after a promotion: that role excludes nothing. */
export function isPlainlyNotPrimary(body: MemberStatus): boolean {
  const { role } = body;
  return role === 'replica' || role === 'standby_leader' || role === 'demoted' || role === 'uninitialized';
}

function ruleOutReader(check: Check, body: MemberStatus): Verdict | undefined {
  if (body.state !== undefined && body.state !== 'running') return no('not_running', `state ${body.state}`);
  if (body.noloadbalance === true && body.role !== 'primary') return no('tagged_out', 'noloadbalance');
  const { replicationState: wanted } = check;
  const { replicationState: state } = body;
  if (wanted !== undefined && state !== undefined && state !== wanted && body.role !== 'primary') {
    return no('not_streaming', `${shown(state)}, expected ${wanted}`);
  }
  if (body.tags === undefined) return undefined;
  for (const [key, wanted] of check.tags) {
    const actual = body.tags.get(key);
    if (actual !== wanted) return no('tagged_out', `tag ${key} is ${shown(actual ?? 'absent')}, expected ${wanted}`);
  }
  return undefined;
}

/** A 503 whose body gives no reason. */
function refusal(check: Check, body: MemberStatus | undefined): Verdict {
  if (body?.state !== undefined && body.state !== 'running') return no('not_running', `state ${body.state}`);
  if (check.tags.size > 0 && body?.tags === undefined) {
    return no('tagged_out', `no tags; the check requires ${[...check.tags].map(([k, v]) => `${k}=${v}`).join(', ')}`);
  }
  const isForbidden = body?.isSynchronous === true && failureOf(check.path) === 'not_asynchronous';
  if (check.lagBytes === undefined || isForbidden) return no('not_holding_the_check', check.path);
  return no('lagging', `over ${sizeText(check.lagBytes)} as reported by the member`);
}

/** `is a replica` */
function roleText(role: Role | undefined): string {
  return role === 'demoted' || role === 'uninitialized' ? `is ${role}` : `is a ${role?.replace('_', ' ')}`;
}

function no(code: Why['code'], detail: string): Verdict {
  return { kind: 'negative', why: { code, detail } };
}
