// Routing tables written by hand: each pool's route as a word or a list of targets, standings to match.
import type { MemberName } from '../../../src/model/member.ts';
import type { Address } from '../../../src/model/member.ts';
import type { PoolDecision, Route, RoutingTable, Target } from '../../../src/core/routing-table.ts';
import type { Standing } from '../../../src/core/standing.ts';

export interface PoolPicture {
  /** Members that take new sessions. */
  readonly open?: Readonly<Record<MemberName, Address>>;
  /** Members that do not, with their standing. */
  readonly others?: Readonly<Record<MemberName, { readonly address: Address; readonly standing: Standing }>>;
  /** The route when no member is open. */
  readonly otherwise?: 'hold' | 'starting' | 'closed';
  /** Further facts of open members. */
  readonly sharing?: Readonly<Record<MemberName, Omit<Target, 'member' | 'address'>>>;
  readonly lagging?: { readonly maxSessions: number };
  readonly fallback?: { readonly pool: string; readonly maxSessions: number };
}

export const DEMOTED: Standing = {
  kind: 'leave',
  cause: 'demoted',
  why: { code: 'wrong_role', detail: 'is a replica' },
};

/** Its sessions leave before it stops. */
export const HANDING_OVER = {
  kind: 'leave',
  cause: 'switchover',
  why: { code: 'switchover_running', since: 0 },
} as const satisfies Standing;

export function aDecision({
  open = {},
  others = {},
  otherwise = 'hold',
  sharing = {},
  lagging,
  fallback,
}: PoolPicture): PoolDecision {
  const targets = Object.entries(open).map(([member, address]) => ({ member, address, ...sharing[member] }));
  const [first, ...rest] = targets;
  const standings = new Map<MemberName, Standing>();
  const addresses = new Map<MemberName, Address>();
  for (const { member, address } of targets) {
    standings.set(member, { kind: 'open', why: { code: 'positive' } });
    addresses.set(member, address);
  }
  for (const [member, { address, standing }] of Object.entries(others)) {
    standings.set(member, standing);
    addresses.set(member, address);
  }
  const capped = lagging === undefined ? {} : { lagging };
  const route: Route =
    first === undefined ? idle(otherwise) : { kind: 'open', targets: [first, ...rest], fallback, ...capped };
  return { route, standings, addresses, refused: [] };
}

function idle(otherwise: 'hold' | 'starting' | 'closed'): Route {
  if (otherwise === 'closed') return { kind: 'closed' };
  return { kind: 'hold', cause: otherwise === 'hold' ? 'no_member' : 'starting' };
}

/** A table of these pools; the others hold. */
export function aTableOf(pools: Readonly<Record<string, PoolPicture>>): RoutingTable {
  const decisions = Object.entries(pools).map(([name, picture]) => [name, aDecision(picture)] as const);
  const isStarting = Object.values(pools).some((picture) => picture.otherwise === 'starting');
  return { decidedAt: 0, validUntil: Infinity, pools: new Map(decisions), complete: !isStarting };
}
