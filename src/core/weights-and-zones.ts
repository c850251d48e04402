// A member's weight and zone, from the tags of its newest body. A member without tags has weight 1 and is in another
// zone.
import type { PoolPolicy } from '../model/policy.ts';
import type { Target } from './routing-table.ts';
import { shown } from '../model/printable.ts';
import type { MemberStatus } from '../model/member-status.ts';

type PoolTags = Pick<PoolPolicy, 'weightTag' | 'zoneTag'>;

/** `zone`: our own. */
export function weightAndZoneOf(
  pool: PoolTags,
  zone: string | undefined,
  status: MemberStatus | undefined,
): Pick<Target, 'weight' | 'isFar'> {
  const written = weightText(pool, status);
  const weight = written === undefined ? undefined : parseWeight(written);
  const isFar = pool.zoneTag !== undefined && zone !== undefined && status?.tags?.get(pool.zoneTag) !== zone;
  return { ...(weight === undefined ? {} : { weight }), ...(isFar ? { isFar } : {}) };
}

/** `tag weight is heavy`. Undefined when the weight is valid or absent. */
export function invalidWeight(pool: PoolTags, status: MemberStatus | undefined): string | undefined {
  const written = weightText(pool, status);
  if (written === undefined || parseWeight(written) !== undefined) return undefined;
  return `tag ${pool.weightTag} is ${shown(written)}`;
}

function weightText({ weightTag }: PoolTags, status: MemberStatus | undefined): string | undefined {
  return weightTag === undefined ? undefined : status?.tags?.get(weightTag);
}

/** Outside this range one of two members would get no sessions. `noloadbalance` is for that. */
function parseWeight(text: string): number | undefined {
  const weight = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  return weight >= 0.001 && weight <= 1_000_000 ? weight : undefined;
}
