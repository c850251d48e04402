// Rules for keys that distribute sessions among members, each with its reason.
import { SHARED_ONLY, isExclusive } from '../schema/defaults.ts';
import { error, warning, type Fault, type Path } from '../fault.ts';
import type { ParsedFile, ParsedPool } from '../schema/file-schema.ts';

export function sharingRules({ pools, zone }: ParsedFile): readonly Fault[] {
  const faults: Fault[] = [];
  for (const [name, pool] of Object.entries(pools)) {
    const path = (key: string): Path => ['pools', name, key];
    if (isExclusive(pool)) {
      const why = 'an exclusive pool has at most one member, so there is nothing to distribute: leave it out';
      const given = SHARED_ONLY.filter((key) => pool[key] !== undefined);
      faults.push(...given.map((key) => error(why, path(key), path('exclusive'), path('check'))));
      continue;
    }
    if (pool.zone_tag !== undefined && zone === undefined) {
      const why = 'the zone of this Pointsman is not known: give zone at the top, or POINTSMAN_ZONE';
      faults.push(error(why, path('zone_tag'), ['zone']));
    }
    faults.push(...lagRules(pool, path));
  }
  if (zone !== undefined && Object.values(pools).every(({ zone_tag: tag }) => tag === undefined)) {
    const tags = Object.keys(pools).map((name): Path => ['pools', name, 'zone_tag']);
    faults.push(warning('has no effect: no pool has a zone_tag', ['zone'], ...tags));
  }
  return faults;
}

function lagRules(pool: ParsedPool, path: (key: string) => Path): readonly Fault[] {
  const faults: Fault[] = [];
  const { when_all_lagging: policy, max_lagging_sessions: cap, check, fallback } = pool;
  if (policy !== undefined && check.lagBytes === undefined) {
    const why = 'the check of the pool has no lag limit: write one, such as /replica?lag=16MB, or leave this out';
    faults.push(error(why, path('when_all_lagging'), path('check')));
  }
  if (policy === 'fallback' && (fallback === undefined || fallback === 'none')) {
    const why = 'the pool has no fallback: give one, or write refuse or least_lagging';
    faults.push(error(why, path('when_all_lagging'), path('fallback')));
  }
  if (cap !== undefined && policy !== 'least_lagging') {
    const why = 'has an effect only with when_all_lagging: least_lagging';
    faults.push(error(why, path('max_lagging_sessions'), path('when_all_lagging')));
  }
  return faults;
}
