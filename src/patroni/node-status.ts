// The node status document: the body of every health answer and of /patroni (/manager in the management API), as
// MemberStatus. Unreadable fields are left out or become `unknown`, so that they can only tighten a verdict.
import { isRecord } from '../model/json.ts';
import { z } from 'zod';
import type { MemberStatus, Role } from '../model/member-status.ts';
import { anything, flag, identifier, indicator, integer, line, maybe, orWord } from './fields.ts';
import { present, timelineOrZero } from './fields.ts';
import { parseTags } from './tags.ts';

export type ParsedNodeStatus =
  | { readonly kind: 'status'; readonly status: MemberStatus }
  | { readonly kind: 'invalid'; readonly why: string };

export type Dialect = 'patroni' | 'manager';

const ROLES: Readonly<Record<string, Role>> = {
  primary: 'primary',
  // Before Patroni 4.0.0.
  master: 'primary',
  replica: 'replica',
  sync_standby: 'replica',
  quorum_standby: 'replica',
  standby_leader: 'standby_leader',
  demoted: 'demoted',
  promoted: 'promoted',
  uninitialized: 'uninitialized',
};

/** One spelling for `standby leader` (management API), `standby-leader` and `standby_leader` (Patroni). */
export function roleIn<Name>(roles: Readonly<Record<string, Name>>, value: unknown): Name | 'unknown' {
  const name = typeof value === 'string' ? value.replaceAll(/[ -]/g, '_') : '';
  return (Object.hasOwn(roles, name) ? roles[name] : undefined) ?? 'unknown';
}

function toRole(value: unknown): Role | undefined {
  return value === undefined || value === null ? undefined : roleIn(ROLES, value);
}

const position = orWord(integer, 'invalid');
const about = maybe(z.object({ scope: maybe(identifier), name: maybe(identifier) }));

const nodeStatus = z.object({
  // A state that is not text is unreadable, which differs from absent.
  state: orWord(line, 'unknown'),
  role: anything.transform(toRole),
  timeline: orWord(timelineOrZero, 'impossible'),
  postmaster_start_time: maybe(identifier),
  xlog: maybe(z.object({ location: position, received_location: position, replayed_location: position })),
  tags: anything.transform(parseTags),
  database_system_identifier: maybe(z.union([identifier, z.int().transform(String)])),
  replication_state: maybe(line),
  sync_standby: flag,
  quorum_standby: flag,
  pause: indicator,
  cluster_unlocked: indicator,
  failsafe_mode_is_active: indicator,
  dcs_last_seen: maybe(integer),
  pending_restart: flag,
  patroni: about,
  manager: about,
});

type Document = z.infer<typeof nodeStatus>;

function toStatus(document: Document, timeline: number | undefined): MemberStatus {
  const about = document.patroni ?? document.manager;
  return present({
    role: document.role,
    state: document.state,
    timeline,
    startedAt: document.postmaster_start_time,
    location: document.xlog?.location,
    received: document.xlog?.received_location,
    replayed: document.xlog?.replayed_location,
    replicationState: document.replication_state,
    tags: document.tags?.tags,
    noloadbalance: document.tags?.noloadbalance,
    scope: about?.scope,
    name: about?.name,
    systemIdentifier: document.database_system_identifier,
    isSynchronous: document.sync_standby === true || document.quorum_standby,
    pause: document.pause,
    clusterUnlocked: document.cluster_unlocked,
    failsafe: document.failsafe_mode_is_active,
    storeSeenAt: document.dcs_last_seen,
    pendingRestart: document.pending_restart,
    dialect: dialectOf(document),
  });
}

function dialectOf(document: Document): Dialect | undefined {
  if (document.patroni !== undefined) return 'patroni';
  return document.manager === undefined ? undefined : 'manager';
}

/**
 * Any JSON object is a status document, even an empty one: the management API requires no field of a health answer. An
 * impossible timeline makes the document invalid: if believed, it would outrank every real primary; if ignored, it
 * would count as unknown.
 */
export function readNodeStatus(json: unknown): ParsedNodeStatus {
  if (!isRecord(json)) return { kind: 'invalid', why: 'not a JSON object' };
  const parsed = nodeStatus.safeParse(json);
  if (!parsed.success) return { kind: 'invalid', why: 'not a status document' };
  const { timeline, role } = parsed.data;
  if (timeline === 'impossible' || (timeline === 0 && role === 'primary')) {
    return { kind: 'invalid', why: 'with a timeline that no server can have' };
  }
  return { kind: 'status', status: toStatus(parsed.data, timeline === 0 ? undefined : timeline) };
}
