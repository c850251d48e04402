// The past of this run: its history; spans and samples of the last hour, for /timeline and /samples; and the summary of
// each outage, for the log.
// Waiting clients are counted more often than a sample is taken, because most waits are short.
import { SAMPLE_MS, Samples, type MemberSample, type PoolSample } from '../admin/samples.ts';
import { Spans, type SpansOptions } from '../admin/spans.ts';
import { ClusterHistory } from '../history/cluster-history.ts';
import { incidentAt } from '../incidents/incident-views.ts';
import type { FlightRecorder } from '../incidents/recorder.ts';
import { Outages } from '../incidents/outages.ts';
import { primaryPositions, recentLags } from '../core/lag.ts';
import type { Clock, Instant } from '../model/instant.ts';
import type { PoolName } from '../model/policy.ts';
import type { Monitor } from '../monitor/monitor.ts';
import type { Proxy } from '../proxy/proxy-interface.ts';
import type { CountsByPool } from '../reports/counts.ts';
import type { OutageEvent, ReportedEvent } from '../reports/events.ts';
import type { InForce } from './reload.ts';

export interface LastHourOptions {
  readonly history: ClusterHistory;
  readonly clock: Clock;
  readonly running: Pick<InForce, 'config'>;
  readonly monitor: Pick<Monitor, 'snapshot' | 'table'>;
  readonly proxy: Pick<Proxy, 'counts'>;
  readonly incidents: Pick<FlightRecorder, 'recorded' | 'list' | 'currentId' | 'get' | 'subscribe'>;
  readonly onOutage: (event: OutageEvent) => void;
}

export interface LastHour {
  readonly spans: Spans;
  readonly samples: Samples;
  readonly incidentAt: SpansOptions['incidentAt'];
  /** Synchronously with the event. `at`: when it happened, which may be before. */
  readonly take: (event: ReportedEvent, at: Instant) => void;
  /** Begins to take samples. */
  readonly start: () => void;
  readonly stop: () => void;
}

const LOOK_MS = 1000;

/** The most at a time since the last sample. */
type Peaks = ReadonlyMap<PoolName, Pick<PoolSample, 'waiting' | 'parked'>>;

const NONE = { waiting: 0, parked: 0 };

type HistoryOptions = Pick<LastHourOptions, 'clock' | 'running' | 'monitor' | 'incidents'>;

export function createHistory({ clock, running, monitor, incidents }: HistoryOptions): ClusterHistory {
  return new ClusterHistory({
    known: () => ({ policy: running.config, table: monitor.table(), snapshot: monitor.snapshot() }),
    recorded: () => incidents.recorded(),
    now: () => clock.now(),
    wallClock: () => Date.now(),
  });
}

export function createLastHour({
  history,
  clock,
  running,
  monitor,
  proxy,
  incidents,
  onOutage,
}: LastHourOptions): LastHour {
  const incidentOf: LastHour['incidentAt'] = (...time) => incidentAt(incidents.list(), ...time);
  const spans = new Spans({ now: () => clock.now(), wallClock: () => Date.now(), history, incidentAt: incidentOf });
  const outages = new Outages({ waiting: history.waiting, incidents, tell: onOutage });
  const samples = new Samples();
  let peaks: Peaks = new Map();
  let dueAt = -Infinity;
  let cancel: (() => void) | undefined;
  const look = (): void => {
    const now = clock.now();
    const counts = proxy.counts();
    peaks = higher(peaks, counts);
    if (now >= dueAt) {
      // Removed pools have counts, too.
      const pools = running.config.pools.map(({ name }) => name);
      samples.put({ at: now, pools: poolSamples(pools, counts, peaks), members: memberSamples(monitor, counts) });
      peaks = new Map();
      // The next look may come a little early.
      dueAt = now + SAMPLE_MS - LOOK_MS / 2;
    }
    next();
  };
  const next = (): void => {
    cancel = clock.schedule(LOOK_MS, look);
  };
  const take: LastHour['take'] = (event, at) => {
    spans.take(event, at);
    outages.take(event);
  };
  return { spans, samples, incidentAt: incidentOf, take, start: next, stop: () => cancel?.() };
}

function higher(peaks: Peaks, counts: CountsByPool): Peaks {
  return new Map(
    [...counts].map(([pool, { states }]) => {
      const { holding, parked = 0, moving = 0 } = states;
      const { waiting, parked: before } = peaks.get(pool) ?? NONE;
      return [pool, { waiting: Math.max(waiting, holding), parked: Math.max(before, parked + moving) }];
    }),
  );
}

function poolSamples(
  pools: readonly PoolName[],
  counts: CountsByPool,
  peaks: Peaks,
): ReadonlyMap<PoolName, PoolSample> {
  return new Map(
    pools.map((pool) => {
      const { members, states } = counts.get(pool) ?? {};
      const sessions = [...(members?.values() ?? []), states?.parked ?? 0].reduce((sum, count) => sum + count, 0);
      return [pool, { ...(peaks.get(pool) ?? NONE), sessions }];
    }),
  );
}

function memberSamples(monitor: LastHourOptions['monitor'], counts: CountsByPool): ReadonlyMap<string, MemberSample> {
  const snapshot = monitor.snapshot();
  const primary = primaryPositions(snapshot);
  const sessions = (member: string): number =>
    [...counts.values()].reduce((sum, { members }) => sum + (members.get(member) ?? 0), 0);
  return new Map(
    [...snapshot.members].map(([name, record]) => [
      name,
      { lagBytes: recentLags(primary, record, 1)[0], sessions: sessions(name) },
    ]),
  );
}
