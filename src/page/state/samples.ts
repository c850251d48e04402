// Samples of the last hour, continued in the page: a status that comes a whole interval after the newest sample becomes
// the next one.
import type { SamplesDocument } from '../../documents/samples-document.ts';
import type { StatusDocument } from '../../documents/status-document.ts';

type SampledSessions = StatusDocument['pools'][number]['sessions'];
type SeriesValues = readonly (number | null)[];

const KEPT_SECONDS = 3600;

export function withSampleOf(samples: SamplesDocument, status: StatusDocument): SamplesDocument {
  const newest = samples.times.at(-1) ?? -Infinity;
  return secondsOf(status) >= newest + samples.interval_seconds ? withPoint(samples, status) : samples;
}

/** With the status as the last point, whatever the time since the one before. */
export function withPoint(samples: SamplesDocument, status: StatusDocument): SamplesDocument {
  const { interval_seconds, times } = samples;
  const now = secondsOf(status);
  // A clock that was put back would turn the time axis around.
  if (now <= (times.at(-1) ?? -Infinity)) return samples;
  const most = Math.floor(KEPT_SECONDS / interval_seconds);
  const drop = Math.max(0, times.length + 1 - most);
  const extended = (values: SeriesValues | undefined, value: number | null): SeriesValues =>
    [...(values ?? times.map(() => null)), value].slice(drop);
  const pools = Object.fromEntries(status.pools.map((pool) => [pool.name, pool.sessions]));
  const members = Object.fromEntries(status.members.map((member) => [member.name, member]));
  return {
    interval_seconds,
    times: [...times, now].slice(drop),
    pools: mapped(samples.pools, Object.keys(pools), (series, name) => ({
      sessions: extended(series?.sessions, sessionsOf(pools[name])),
      waiting: extended(series?.waiting, pools[name]?.by_state.holding ?? null),
      parked: extended(series?.parked, pools[name] ? movingIn(pools[name]) : null),
    })),
    members: mapped(samples.members, Object.keys(members), (series, name) => ({
      lag_bytes: extended(series?.lag_bytes, members[name]?.lag_bytes ?? null),
      sessions: extended(series?.sessions, members[name] === undefined ? null : sessionsOn(name, status)),
    })),
  };
}

function secondsOf({ time }: StatusDocument): number {
  return Date.parse(time) / 1000;
}

export function sessionsOn(member: string, { pools }: StatusDocument): number {
  return pools.reduce((sum, { sessions }) => sum + (sessions?.by_member[member] ?? 0), 0);
}

/** Parked, or logged in at their next server. */
export function movingIn(sessions: SampledSessions): number {
  const { parked = 0, moving = 0 } = sessions?.by_state ?? {};
  return parked + moving;
}

/** Those that are parked included, as the samples have them. */
function sessionsOf(sessions: SampledSessions | undefined): number | null {
  if (!sessions) return null;
  const { by_member: members, by_state: states } = sessions;
  return Object.values(members).reduce((sum, count) => sum + count, states.parked ?? 0);
}

/** Names that are new come last. Names without any value left are dropped. */
function mapped<Series extends Readonly<Record<string, SeriesValues>>>(
  known: Readonly<Record<string, Series>>,
  present: readonly string[],
  next: (series: Series | undefined, name: string) => Series,
): Readonly<Record<string, Series>> {
  const names = [...new Set([...Object.keys(known), ...present])];
  const all = names.map((name): [string, Series] => [name, next(known[name], name)]);
  return Object.fromEntries(
    all.filter(([, series]) => Object.values(series).some((values) => values.some((value) => value !== null))),
  );
}
