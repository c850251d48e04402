// What a member's tags say of its part in a pool: its weight, and whether it is in our zone. Tags are those of its newest body;
// of a member without any nothing is known: it weighs 1, and it is far.
import type { PoolPolicy } from '../model/policy.ts';
import type { Target } from './routing-table.ts';
import { shown } from '../model/printable.ts';
import type { MemberStatus } from '../model/member-status.ts';

export type Sharing = Pick<Target, 'weight' | 'isFar'>;

type Tagged = Pick<PoolPolicy, 'weightTag' | 'zoneTag'>;

/** `zone` is our own. */
export function sharingOf(pool: Tagged, zone: string | undefined, status: MemberStatus | undefined): Sharing {
  const written = weightText(pool, status);
  const weight = written === undefined ? undefined : parseWeight(written);
  const isFar = pool.zoneTag !== undefined && zone !== undefined && status?.tags?.get(pool.zoneTag) !== zone;
  return { ...(weight === undefined ? {} : { weight }), ...(isFar ? { isFar } : {}) };
}

/** `tag weight is heavy`, where that is no weight. */
export function oddWeight(pool: Tagged, status: MemberStatus | undefined): string | undefined {
  const written = weightText(pool, status);
  if (written === undefined || parseWeight(written) !== undefined) return undefined;
  return `tag ${pool.weightTag} is ${shown(written)}`;
}

function weightText({ weightTag }: Tagged, status: MemberStatus | undefined): string | undefined {
  return weightTag === undefined ? undefined : status?.tags?.get(weightTag);
}

/** Beyond a million to a thousandth one of two would be given nothing, which is what `noloadbalance` is for. */
function parseWeight(text: string): number | undefined {
  const weight = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  return weight >= 0.001 && weight <= 1_000_000 ? weight : undefined;
}
