// Rules for how a pool shares its sessions out, each with its reason.
import { isExclusive } from './assemble.ts';
import { error, warning } from './finding.ts';
import type { Finding } from './finding.ts';
import type { Path } from './problem.ts';
import type { ParsedFile } from './schema.ts';

/** What is about several members. */
const SHARED_ONLY = ['weight_tag', 'zone_tag', 'slow_start', 'max_session_age'] as const;

export function sharingRules({ pools, zone }: ParsedFile): readonly Finding[] {
  const findings: Finding[] = [];
  for (const [name, pool] of Object.entries(pools)) {
    const path = (key: string): Path => ['pools', name, key];
    if (isExclusive(pool)) {
      for (const key of SHARED_ONLY.filter((one) => pool[one] !== undefined)) {
        findings.push(
          error(
            'an exclusive pool has at most one member, so there is nothing to share out: leave it out',
            path(key),
            path('exclusive'),
            path('check'),
          ),
        );
      }
    } else if (pool.zone_tag !== undefined && zone === undefined) {
      findings.push(
        error('which zone is ours? Give it as zone, at the top or as POINTSMAN_ZONE', path('zone_tag'), ['zone']),
      );
    }
  }
  if (zone !== undefined && Object.values(pools).every(({ zone_tag: tag }) => tag === undefined)) {
    const tags = Object.keys(pools).map((name): Path => ['pools', name, 'zone_tag']);
    findings.push(warning('has no effect: no pool has a zone_tag', ['zone'], ...tags));
  }
  return findings;
}
