// Plain values of the core with defaults and small overrides, so that a test names only what matters to it. A snapshot
// is never written by hand: `observe` makes it of observations, as in production.
import { parseCheck } from '../../../src/model/check.ts';
import type { Check } from '../../../src/model/check.ts';
import { decideRoutes } from '../../../src/core/decide-routes.ts';
import type { Instant } from '../../../src/model/instant.ts';
import type { Member, MemberName } from '../../../src/model/member.ts';
import { observe } from '../../../src/core/observe.ts';
import type {
  FailureCause,
  LeaderObservation,
  MembersObservation,
  Observation,
  PortState,
  ProbeObservation,
  VouchObservation,
} from '../../../src/model/observation.ts';
import type { PoolPolicy, ProbePolicy, RoutingPolicy } from '../../../src/model/policy.ts';
import type { PoolDecision, Route, RoutingTable } from '../../../src/core/routing-table.ts';
import type { Standing } from '../../../src/core/standing.ts';
import { emptySnapshot } from '../../../src/core/snapshot.ts';
import type { Snapshot } from '../../../src/core/snapshot.ts';
import type { MemberStatus } from '../../../src/model/member-status.ts';

export const MB = 1024 * 1024;
export const WRITE_CHECK = '/primary';
export const READ_CHECK = '/replica?lag=16MB';

export function aCheck(text: string): Check {
  const parsed = parseCheck(text);
  if (parsed.kind === 'invalid') throw new Error(parsed.message);
  return parsed.check;
}

/** Defaults of guarantees.md. */
export function aProbePolicy(overrides: Partial<ProbePolicy> = {}): ProbePolicy {
  return {
    intervalMs: 1000,
    timeoutMs: 800,
    urgent: { intervalMs: 100, forMs: 30_000 },
    rise: 1,
    fall: 2,
    writeMaxAgeMs: 5000,
    readMaxAgeMs: 10_000,
    silenceGraceMs: 15_000,
    silentProbes: 3,
    vouching: true,
    ...overrides,
  };
}

type PoolOverrides = Partial<Omit<PoolPolicy, 'check'>> & { readonly check?: string };

/** The pool `read` without a fallback. */
export function aPool({ check = READ_CHECK, ...overrides }: PoolOverrides = {}): PoolPolicy {
  return {
    name: 'read',
    check: aCheck(check),
    exclusive: false,
    balance: 'least_sessions',
    weightTag: undefined,
    zoneTag: undefined,
    slowStartMs: 0,
    maxSessionAgeMs: undefined,
    maxStalenessMs: undefined,
    fallback: undefined,
    whenAllLagging: 'fallback',
    maxLaggingSessions: 100,
    onLeave: {
      dead: 'close',
      demoted: 'close',
      silent: 'close',
      promoted: 'drain',
      lagging: 'keep',
      check_failed: 'keep',
      old_timeline: 'keep',
      tagged_out: 'drain',
      removed: 'drain',
      operator: 'drain',
      fallback_over: 'drain',
    },
    drainTimeoutMs: 60_000,
    relocateAfterMs: 3000,
    ...overrides,
  };
}

export function aWritePool(overrides: PoolOverrides = {}): PoolPolicy {
  const closeAlways = {
    dead: 'close',
    demoted: 'close',
    silent: 'close',
    promoted: 'close',
    lagging: 'close',
    check_failed: 'close',
    old_timeline: 'close',
    tagged_out: 'close',
    removed: 'close',
    operator: 'close',
    fallback_over: 'close',
  } as const;
  return aPool({ name: 'write', check: WRITE_CHECK, exclusive: true, onLeave: closeAlways, ...overrides });
}

interface PolicyOverrides {
  readonly beforeSwitchoverMs?: number;
  readonly probe?: Partial<ProbePolicy>;
  readonly pools?: readonly PoolPolicy[];
}

/** The two pools that exist without being configured: `write`, and `read` falling back to it. */
export function aPolicy({ probe = {}, pools, beforeSwitchoverMs = 0 }: PolicyOverrides = {}): RoutingPolicy {
  const byDefault = [aWritePool(), aPool({ fallback: { pool: 'write', maxSessions: 50 } })];
  return { probe: aProbePolicy(probe), hold: { beforeSwitchoverMs }, pools: pools ?? byDefault };
}

export function aMember(name: MemberName, overrides: Partial<Member> = {}): Member {
  return {
    name,
    api: { url: `http://${name}:8008`, address: { host: name, port: 8008 } },
    postgres: { host: name, port: 5432 },
    origin: 'configured',
    ...overrides,
  };
}

/** A member list; a name alone stands for `aMember(name)`. */
export function aList(at: Instant, ...members: readonly (Member | MemberName)[]): MembersObservation {
  const listed = members.map((member) => (typeof member === 'string' ? aMember(member) : member));
  return { kind: 'members', startedAt: at, members: listed };
}

interface Answer {
  readonly member?: MemberName;
  readonly check?: string;
  readonly at?: Instant;
  readonly status?: 200 | 503;
  readonly body?: MemberStatus | undefined;
}

/** A 200 to `/primary` from `pg-1` with no facts in its body, unless told otherwise. */
export function answered(answer: Answer): ProbeObservation {
  const { member = 'pg-1', check = WRITE_CHECK, at = 0, status = 200 } = answer;
  const body = 'body' in answer ? answer.body : {};
  return { kind: 'probe', member, check, startedAt: at, outcome: { kind: 'answered', status, body } };
}

/** `member` answers `/primary` as the running primary on timeline 1. */
export function isPrimary(member: MemberName, at: Instant, body: MemberStatus = {}): ProbeObservation {
  const facts: MemberStatus = { role: 'primary', state: 'running', timeline: 1, location: 100 * MB };
  return answered({ member, at, body: { ...facts, ...body } });
}

/** `member` answers the read check as a running replica on timeline 1 without lag. */
export function isReplica(
  member: MemberName,
  at: Instant,
  body: MemberStatus = {},
  check: string = READ_CHECK,
): ProbeObservation {
  const facts: MemberStatus = { role: 'replica', state: 'running', timeline: 1, replayed: 100 * MB };
  return answered({ member, at, check, body: { ...facts, ...body } });
}

interface Silence {
  readonly member?: MemberName;
  readonly check?: string;
  readonly at?: Instant;
  readonly cause?: FailureCause;
  readonly postgres?: PortState;
}

/** No answer: acts only through clocks. */
export function silent({
  member = 'pg-1',
  check = WRITE_CHECK,
  at = 0,
  cause = 'timeout',
  postgres = 'silent',
}: Silence): ProbeObservation {
  const outcome = { kind: 'failed', cause, detail: 'no answer within 800 ms', postgres } as const;
  return { kind: 'probe', member, check, startedAt: at, outcome };
}

/** The API port refuses, and the PostgreSQL port with it unless told otherwise: the member is dead. */
export function refused({
  member = 'pg-1',
  check = WRITE_CHECK,
  at = 0,
  postgres = 'refused',
}: Silence): ProbeObservation {
  return { kind: 'probe', member, check, startedAt: at, outcome: { kind: 'refused', postgres } };
}

export function vouched(member: MemberName, by: MemberName, at: Instant): VouchObservation {
  return { kind: 'vouch', member, by, startedAt: at };
}

/** A /cluster document of `by` names `leader`; undefined: no leader. */
export function named(leader: MemberName | undefined, by: MemberName, at: Instant): LeaderObservation {
  return { kind: 'leader', leader, by, startedAt: at };
}

/** The snapshot after these observations; scope `lab` is pinned by configuration. */
export function aSnapshot(policy: RoutingPolicy, ...observations: readonly Observation[]): Snapshot {
  const start = emptySnapshot('lab');
  return observations.reduce((snapshot, observation) => observe(policy, snapshot, observation), start);
}

export function aTable(policy: RoutingPolicy, now: Instant, ...observations: readonly Observation[]): RoutingTable {
  return decideRoutes(policy, aSnapshot(policy, ...observations), now);
}

export function poolOf(table: RoutingTable, pool: string): PoolDecision {
  const decision = table.pools.get(pool);
  if (decision === undefined) throw new Error(`no pool ${pool} in this table`);
  return decision;
}

/** Members that take new sessions, by fallback too. */
export function openIn(table: RoutingTable, pool: string): readonly MemberName[] {
  const { route } = poolOf(table, pool);
  return route.kind === 'open' ? route.targets.map((target) => target.member) : [];
}

export function routeOf(table: RoutingTable, pool: string): Route {
  return poolOf(table, pool).route;
}

/** `open positive`, `keep no_answer`, `leave demoted superseded`: kind, cause and reason in one phrase. */
export function standingIn(table: RoutingTable, pool: string, member: MemberName): string {
  const standing: Standing | undefined = poolOf(table, pool).standings.get(member);
  if (standing === undefined) return 'unknown';
  const cause = standing.kind === 'leave' ? ` ${standing.cause}` : '';
  return `${standing.kind}${cause} ${standing.why.code}`;
}
