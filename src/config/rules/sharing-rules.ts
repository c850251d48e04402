// Rules for keys that distribute sessions among members, each with its reason.
import { ONE_MEMBER_FAMILIES, SHARED_ONLY, isExclusive } from '../schema/defaults.ts';
import { formatDuration as time } from '../schema/duration.ts';
import { error, warning, type Fault, type Path } from '../fault.ts';
import type { ParsedFile, ParsedPool } from '../schema/file-schema.ts';

export function sharingRules(file: ParsedFile): readonly Fault[] {
  const { pools, zone } = file;
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
    faults.push(...lagRules(pool, path), ...stalenessRules(pool, path, file));
  }
  if (zone !== undefined && Object.values(pools).every(({ zone_tag: tag }) => tag === undefined)) {
    const tags = Object.keys(pools).map((name): Path => ['pools', name, 'zone_tag']);
    faults.push(warning('has no effect: no pool has a zone_tag', ['zone'], ...tags));
  }
  return faults;
}

function lagRules(pool: ParsedPool, path: (key: string) => Path): readonly Fault[] {
  const faults: Fault[] = [];
  const { when_all_lagging: policy, max_lagging_sessions: cap, max_staleness: limit = 'off', check, fallback } = pool;
  if (policy !== undefined && check.lagBytes === undefined && limit === 'off') {
    const why =
      'the pool has no lag limit: write max_staleness, or a check such as /replica?lag=16MB, or leave this out';
    faults.push(error(why, path('when_all_lagging'), path('check'), path('max_staleness')));
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

/** A position that is missing counts when several answers in a row lack it. */
const LEAST_INTERVALS = 3;

function stalenessRules(
  { max_staleness: limit = 'off', check }: ParsedPool,
  path: (key: string) => Path,
  { probe, pools }: ParsedFile,
): readonly Fault[] {
  if (limit === 'off') return [];
  const own = path('max_staleness');
  const faults: Fault[] = [];
  const least = LEAST_INTERVALS * probe.interval;
  if (limit < least) {
    const why = `${time(limit)} is too short: at least ${LEAST_INTERVALS} times probe.interval (${time(least)})`;
    faults.push(error(why, own, ['probe', 'interval']));
  }
  if (ONE_MEMBER_FAMILIES.includes(check.family)) {
    const why = `the members that answer ${check.path} replay nothing: leave it out, or use a check of replicas`;
    faults.push(error(why, own, path('check')));
  }
  const others = Object.entries(pools);
  if (!others.some(([, other]) => other.check.family === 'primary')) {
    const why = 'no pool asks for the primary, so there is nothing to compare with: give one the check /primary';
    faults.push(error(why, own, ...others.map(([name]): Path => ['pools', name, 'check'])));
  }
  return faults;
}
