// The reports of all workers, kept by worker: counts, shared limits and live sessions. One report is
// recorded synchronously, so that these three always agree, also when a worker dies.
import { NO_READS, sumOfReads } from '../reports/causal-reads.ts';
import { meanOfLatencies } from '../reports/latency.ts';
import { NO_CLIENTS, sumOfClients } from '../reports/counts.ts';
import type { ClientCounts, CountsByPool, PoolCounts, RefusedLogins } from '../reports/counts.ts';
import type { ProxyEvent } from '../reports/events.ts';
import type { Instant } from '../model/instant.ts';
import type { MemberName } from '../model/member.ts';
import { sumOfMaps, type Tally } from '../reports/tally.ts';
import { LiveSessions } from './live-sessions.ts';
import type { WorkerReport } from './messages.ts';
import { SharedLimits } from './shared-limits.ts';

export class WorkerStats {
  readonly #limits = new SharedLimits();
  readonly #live = new LiveSessions();
  readonly #last = new Map<number, WorkerReport>();
  /** The totals of workers that ended: a sum never decreases when a worker dies. */
  #past: Pick<WorkerReport, 'counts' | 'clients'> = { counts: new Map(), clients: NO_CLIENTS };

  update(worker: number, report: WorkerReport, now: Instant): void {
    this.#last.set(worker, report);
    this.#limits.update(worker, report.tally);
    for (const { event } of report.events) this.#live.record(worker, event, now);
  }

  /** The worker is gone, and its live sessions count as closed. Returns how each of them ended. */
  remove(worker: number, detail: string, now: Instant): readonly ProxyEvent[] {
    const { counts, clients } = this.#last.get(worker) ?? { counts: new Map(), clients: NO_CLIENTS };
    this.#last.delete(worker);
    const ended = new Map([...counts].map(([pool, one]) => [pool, afterTheEnd(one)]));
    this.#past = {
      counts: sumOfCounts([this.#past.counts, ended]),
      clients: sumOfClients([this.#past.clients, { ...clients, handshakes: 0 }]),
    };
    this.#limits.remove(worker);
    return this.#live.remove(worker, detail, now);
  }

  /** Over all pools accepted = closed + live. */
  counts(): CountsByPool {
    return sumOfCounts([this.#past, ...this.#last.values()].map(({ counts }) => counts));
  }

  clients(): ClientCounts {
    return sumOfClients([this.#past, ...this.#last.values()].map(({ clients }) => clients));
  }

  sessionsOf(worker: number): number {
    const pools = [...(this.#last.get(worker)?.counts.values() ?? [])];
    return pools.reduce((sum, { states }) => sum + liveIn(states), 0);
  }

  /** The sum of all other workers. */
  totalExcept(worker: number): Tally {
    return this.#limits.totalExcept(worker);
  }

  /** The same for each of `workers`. It has only the addresses whose number changed since the last call. */
  changesExcept(workers: readonly number[]): ReadonlyMap<number, Tally> {
    return this.#limits.changesExcept(workers);
  }
}

function liveIn(states: PoolCounts['states']): number {
  return Object.values(states).reduce((sum, count) => sum + count, 0);
}

function afterTheEnd(counts: PoolCounts): PoolCounts {
  const { states, accepted, closed, toBackendBytes, toClientBytes, causalReads } = counts;
  const ended = closed + liveIn(states);
  return {
    states: NO_STATES,
    members: new Map(),
    fallbackSessions: 0,
    laggingSessions: 0,
    accepted,
    started: ended,
    closed: ended,
    toBackendBytes,
    toClientBytes,
    ...(causalReads === undefined ? {} : { causalReads: { ...causalReads, waiting: 0, lastMinute: NO_READS } }),
  };
}

const NO_STATES: PoolCounts['states'] = { startup: 0, holding: 0, dialing: 0, relaying: 0, closing: 0 };

function sumOfCounts(all: readonly CountsByPool[]): CountsByPool {
  const names = new Set(all.flatMap((counts) => [...counts.keys()]));
  return new Map(
    [...names].map((name) => [
      name,
      sumOfPool(all.map((counts) => counts.get(name)).filter((one) => one !== undefined)),
    ]),
  );
}

function sumOfPool(pools: readonly PoolCounts[]): PoolCounts {
  const total = (count: (one: PoolCounts) => number): number => pools.reduce((sum, one) => sum + count(one), 0);
  const parked = total(({ states }) => states.parked ?? 0);
  const moving = total(({ states }) => states.moving ?? 0);
  const since = pools.flatMap(({ degradedSince }) => degradedSince ?? []);
  const held = pools.flatMap(({ heldSince }) => heldSince ?? []);
  const refusing = sumOfRefusals(pools.flatMap((one) => [...(one.refusing ?? [])]));
  const reads = pools.flatMap(({ causalReads }) => causalReads ?? []);
  const ramping = new Map(pools.flatMap((one) => [...(one.ramping ?? [])]));
  const latency = meanOfLatencies(pools.flatMap((one) => one.latency ?? []));
  return {
    states: {
      startup: total(({ states }) => states.startup),
      holding: total(({ states }) => states.holding),
      dialing: total(({ states }) => states.dialing),
      relaying: total(({ states }) => states.relaying),
      ...(parked === 0 ? {} : { parked }),
      ...(moving === 0 ? {} : { moving }),
      closing: total(({ states }) => states.closing),
    },
    members: sumOfMaps(pools.map(({ members }) => members)),
    fallbackSessions: total(({ fallbackSessions }) => fallbackSessions),
    laggingSessions: total(({ laggingSessions }) => laggingSessions),
    ...(reads.length === 0 ? {} : { causalReads: sumOfReads(reads) }),
    ...(ramping.size === 0 ? {} : { ramping }),
    ...(latency.size === 0 ? {} : { latency }),
    ...(refusing.size === 0 ? {} : { refusing }),
    ...(since.length === 0 ? {} : { degradedSince: since.reduce((least, one) => Math.min(least, one)) }),
    ...(held.length === 0 ? {} : { heldSince: held.reduce((least, one) => Math.min(least, one)) }),
    accepted: total(({ accepted }) => accepted),
    started: total(({ started }) => started),
    closed: total(({ closed }) => closed),
    toBackendBytes: total(({ toBackendBytes }) => toBackendBytes),
    toClientBytes: total(({ toClientBytes }) => toClientBytes),
  };
}

function sumOfRefusals(all: readonly (readonly [MemberName, RefusedLogins])[]): ReadonlyMap<MemberName, RefusedLogins> {
  const sums = new Map<MemberName, RefusedLogins>();
  for (const [member, one] of all) {
    const known = sums.get(member) ?? { ...one, count: 0 };
    const newest = one.at >= known.at ? one : known;
    sums.set(member, { ...newest, since: Math.min(one.since, known.since), count: one.count + known.count });
  }
  return sums;
}
