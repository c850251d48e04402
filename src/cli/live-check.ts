// The result of `check --live`, which `app` collects without binding or changing anything.
import type { Config } from '../config/config.ts';
import { tlsFaults, type TlsReport } from './member-tls-report.ts';
import { positionFaults, type PositionsReport } from './positions-report.ts';
import type { Member, MemberName, MemberRefusal } from '../model/member.ts';
import type { PortState } from '../model/observation.ts';
import type { PoolName } from '../model/policy.ts';

/** The answer of one seed. */
export type SeedReport =
  | {
      readonly kind: 'found';
      readonly url: string;
      readonly scope: string | undefined;
      readonly leader: MemberName | undefined;
      /** `10.0.0.1:8008`: the addresses its name resolved to; empty if the seed is an address. */
      readonly contactPoints: readonly string[];
      readonly members: readonly Member[];
      /** Members of the document that would not be used. */
      readonly refused: readonly MemberRefusal[];
    }
  | { readonly kind: 'failed'; readonly url: string; readonly why: string };

/** A member as one round of probes found it. */
export interface ProbedMember {
  readonly name: MemberName;
  /** The URL of its management API. */
  readonly api: string;
  /** host:port. Undefined: no document has it. */
  readonly postgres: string | undefined;
  /** Whether its PostgreSQL accepts a TCP connection from here. */
  readonly port: PortState;
  readonly role: string | undefined;
  readonly timeline?: number | undefined;
  /** The pools in which it takes new sessions. */
  readonly pools: readonly PoolName[];
  /** Why it is in no pool; the sentence of `pointsman explain`. */
  readonly why: string | undefined;
}

/** A pool as it would route now. */
export interface ProbedPool {
  readonly name: PoolName;
  readonly check: string;
  /** At most one member, such as the pool of the primary. */
  readonly exclusive: boolean;
  /** The members that take its new sessions, by its fallback as well. */
  readonly members: readonly MemberName[];
  /** `open on pg-1` */
  readonly why: string;
}

/** One read of the list of branches. */
export type BranchesReport =
  | {
      readonly kind: 'read';
      readonly branches: number;
      /** How many of them clients can reach. */
      readonly routed: number;
      /** They may be routed, and the configuration gives them no address. */
      readonly unreachable: readonly { readonly name: string; readonly why: string }[];
    }
  /** `mayPass`: its source does not work now. Else the configuration has to change, or the key. */
  | { readonly kind: 'failed'; readonly why: string; readonly mayPass: boolean };

export interface TriedRole {
  readonly role: string;
  /** Undefined: the source has a verifier that moves can use. */
  readonly why: string | undefined;
}

/** A member whose verifiers cannot be read. */
export interface UnreadVerifiers {
  readonly member: MemberName;
  /** `no session with a password can move to` */
  readonly consequence: string;
  readonly why: string;
}

/** The source of verifiers, as moves would use it now. */
export type VerifiersReport =
  /** `roles`: those that the configuration names without a pattern. */
  | { readonly kind: 'read'; readonly from: string; readonly roles: readonly TriedRole[] }
  | { readonly kind: 'failed' | 'not_asked'; readonly why: string };

export interface LiveReport {
  /** The name of the cluster, by its documents or by the members themselves. */
  readonly scope: string | undefined;
  readonly seeds: readonly SeedReport[];
  readonly members: readonly ProbedMember[];
  readonly pools: readonly ProbedPool[];
  /** Undefined: no branches are configured. */
  readonly branches?: BranchesReport | undefined;
  /** Undefined: none are configured. */
  readonly verifiers?: VerifiersReport | undefined;
  /** For `moves` those that may be the next primary, for `logins` every member. */
  readonly unreadVerifiers?: readonly UnreadVerifiers[] | undefined;
  /** Undefined: no member would be asked. */
  readonly positions?: readonly PositionsReport[] | undefined;
  readonly tls?: TlsReport | undefined;
}

/**
 * Reads the member list from each seed separately, and probes the members of all lists once. Settles within the limits
 * of discovery and the timeouts of `probe`.
 */
export type CheckSeeds = (config: Config) => Promise<LiveReport>;

export type ReachableSeed = Extract<SeedReport, { kind: 'found' }>;

export function foundBy({ seeds }: LiveReport): readonly ReachableSeed[] {
  return seeds.flatMap((seed) => (seed.kind === 'found' ? [seed] : []));
}

/** Members that the address rules or other rules refuse, each once. A contact point is no member. */
export function refusedMembers(report: LiveReport): readonly MemberRefusal[] {
  const refused = foundBy(report).flatMap((seed) => seed.refused.filter(({ reason }) => reason !== 'contact_point'));
  return [...new Map(refused.map((one) => [one.name, one])).values()];
}

/** Each is a reason for exit code 1. */
export function problemsIn(report: LiveReport): readonly string[] {
  const { branches, verifiers } = report;
  const isBroken = branches?.kind === 'failed' && !branches.mayPass;
  return [
    ...clusterProblems(report),
    ...(isBroken ? [unreadText(branches.why)] : []),
    ...positionFaults(report.positions).problems,
    ...(verifiers?.kind === 'failed' ? [`verifiers cannot be read: ${verifiers.why}`] : []),
  ];
}

function unreadText(why: string): string {
  return `the list of branches cannot be read: ${why}`;
}

function clusterProblems(report: LiveReport): readonly string[] {
  if (foundBy(report).length === 0) {
    return ['no seed returned a member list: check that they run and that this host can reach their management API'];
  }
  if (!report.members.some(({ postgres }) => postgres !== undefined)) {
    return ['no member can be used, so there is nowhere to route to'];
  }
  const names = refusedMembers(report).map(({ name }) => name);
  const refused = `${names.length === 1 ? '1 member is' : `${names.length} members are`} not used: ${names.join(', ')}`;
  return [...(names.length === 0 ? [] : [refused]), ...poolProblems(report), ...tlsProblems(report)];
}

/** A member that refuses TLS gets no session, as one whose port refuses. */
function tlsProblems({ pools, tls }: LiveReport): readonly string[] {
  const faults = tls === undefined ? undefined : tlsFaults(tls);
  return pools.flatMap(({ name, exclusive, members: [only = ''] }) => {
    const fault = exclusive ? faults?.get(only) : undefined;
    return fault === undefined ? [] : [`pool ${name}: ${fault}`];
  });
}

/** A pool of one member must have it; if there is no such pool, at least one other must have a member. */
function poolProblems({ pools, members }: LiveReport): readonly string[] {
  const accepting = new Set(members.flatMap(({ name, port }) => (port === 'accepts' ? [name] : [])));
  const exclusive = pools.filter((pool) => pool.exclusive);
  const closed = exclusive.filter((pool) => pool.members.length === 0);
  const deaf = exclusive.filter((pool) => pool.members.length > 0 && !pool.members.some((one) => accepting.has(one)));
  const isEmpty = exclusive.length === 0 && !pools.some((pool) => pool.members.some((one) => accepting.has(one)));
  return [
    ...closed.map(({ name, why }) => `pool ${name} would have no member now: ${why}`),
    ...deaf.map(({ name, members: [first = ''] }) => `pool ${name}: ${portProblem(members, first)}`),
    ...(isEmpty ? ['no pool would have a member now'] : []),
  ];
}

function portProblem(members: readonly ProbedMember[], name: MemberName): string {
  const member = members.find((one) => one.name === name);
  const where = `PostgreSQL of ${name} at ${member?.postgres ?? 'an unknown address'}`;
  return `${where} ${member?.port === 'refused' ? 'refuses connections' : 'does not answer'} from this host`;
}

/** So many branches without an address are named. */
const MOST_NAMED = 5;

/** Not a reason for exit code 1. */
export function warningsIn(report: LiveReport): readonly string[] {
  return [
    ...memberWarnings(report),
    ...tlsWarnings(report),
    ...branchWarnings(report),
    ...verifierWarnings(report),
    ...positionFaults(report.positions).warnings,
  ];
}

function tlsWarnings({ pools, tls }: LiveReport): readonly string[] {
  if (tls === undefined) return [];
  const exclusive = new Set(pools.flatMap((pool) => (pool.exclusive ? pool.members : [])));
  return [...tlsFaults(tls)].flatMap(([member, fault]) => (exclusive.has(member) ? [] : [fault]));
}

/** Sessions of other roles still move. */
function verifierWarnings({ verifiers, unreadVerifiers = [] }: LiveReport): readonly string[] {
  const unread = unreadVerifiers.map(
    ({ member, consequence, why }) => `${consequence} ${member}: verifiers cannot be read from it: ${why}`,
  );
  if (verifiers?.kind === 'not_asked') return [`verifiers were not tried: ${verifiers.why}`, ...unread];
  if (verifiers?.kind !== 'read') return unread;
  const roles = verifiers.roles.flatMap(({ role, why }) =>
    why === undefined ? [] : [`role ${role} cannot move: ${why}`],
  );
  return [...roles, ...unread];
}

/** Pools and readiness do without the list. */
function branchWarnings({ branches }: LiveReport): readonly string[] {
  if (branches === undefined) return [];
  if (branches.kind === 'failed') return branches.mayPass ? [unreadText(branches.why)] : [];
  const named = branches.unreachable.slice(0, MOST_NAMED);
  const more = branches.unreachable.length - named.length;
  return [
    ...named.map(({ name, why }) => `branch ${name} has no address: ${why}`),
    ...(more > 0 ? [`${more} more branches have no address`] : []),
  ];
}

/** Members that are up by their API and whose PostgreSQL this host cannot reach. */
function memberWarnings({ pools, members }: LiveReport): readonly string[] {
  const exclusive = new Set(pools.flatMap((pool) => (pool.exclusive ? pool.members : [])));
  return members
    .filter(({ name, port, pools: own }) => own.length > 0 && port !== 'accepts' && !exclusive.has(name))
    .map(({ name }) => portProblem(members, name));
}
