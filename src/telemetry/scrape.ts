// Metrics that are read at the scrape. Each is one row: its name, its help, its labels, and its series now. All are
// read from one routing table, its snapshot and one set of counts, so that they agree with each other and with the
// routing (G21).
import type { RefusalKind, Snapshot } from '../core/snapshot.ts';
import type { RoutingTable } from '../core/routing-table.ts';
import type { ClusterHistory } from '../history/cluster-history.ts';
import type { HandshakesByMember } from '../history/member-handshakes.ts';
import type { CertificateStatus, ClientCounts, CountsByPool, WorkerStatus } from '../reports/counts.ts';
import type { BranchListStatus } from '../model/branch.ts';
import type { Instant } from '../model/instant.ts';
import type { PoolPolicy } from '../model/policy.ts';
import { familyIn, type Labels } from './families.ts';
import type { Registry } from 'prom-client';
import { sumOf } from '../model/sums.ts';
import { Histogram } from './prometheus.ts';

/** The values of one scrape. */
export interface Scrape {
  readonly table: RoutingTable;
  /** The table's. */
  readonly snapshot: Snapshot;
  readonly history: Pick<ClusterHistory, 'routes' | 'primary' | 'primaryChanges'>;
  readonly now: Instant;
  /** At `now`. Milliseconds since 1970. */
  readonly wallClock: number;
  readonly counts: CountsByPool;
  readonly clients: ClientCounts;
  /** The pools of the configuration in effect. */
  readonly pools: readonly PoolPolicy[];
  readonly limits: LimitsInEffect;
  /** Open streams of GET /events. */
  readonly eventStreams: number;
  /** Why primaries are refused, while there is no other primary. */
  readonly refusals: readonly RefusalKind[];
  /** Presented to clients; undefined in passthrough mode. */
  readonly certificate: CertificateStatus | undefined;
  /** Pointsman's own certificate for members. Undefined: there is none, or no member has got it yet. */
  readonly memberPair: Pick<CertificateStatus, 'file' | 'expiresAt'> | undefined;
  /** Empty without `backend.tls`. */
  readonly handshakes: HandshakesByMember;
  /** Worker processes; empty if this process serves clients itself. */
  readonly workers: readonly WorkerStatus[];
  /** When the configuration in effect was loaded. Milliseconds since 1970. */
  readonly configLoadedAt: number;
  /** Sessions may move. */
  readonly hasMoves: boolean;
  /** Servers may be asked for their positions. */
  readonly hasQuestions: boolean;
  /** The list of branches; undefined if none are configured. */
  readonly branches: BranchListStatus | undefined;
  /** Log lines lost since the start. */
  readonly droppedLogLines: number;
}

/** The limits in effect. Undefined: there is none. */
export interface LimitsInEffect {
  /** Over all processes; what open files allow included. */
  readonly sessions: number;
  readonly handshakes: number | undefined;
  readonly heldClients: number;
  readonly eventStreams: number;
}

/** Creates the metric. Returns a function that updates its series: a label set that is no longer true is gone. */
export type ScrapedMetric = (registry: Registry) => (scrape: Scrape) => void;

/** A series without a value is absent. */
export function scraped<Label extends string>(
  name: string,
  help: string,
  labels: readonly Label[],
  read: (scrape: Scrape) => readonly (readonly [labels: Labels<Label>, value: number | undefined])[],
): ScrapedMetric {
  return (registry) => {
    const family = familyIn(registry, name, help, labels);
    return (scrape) => {
      family.reset();
      for (const [of, value] of read(scrape)) {
        if (value === undefined) family.remove(of);
        else family.put(of, value);
      }
    };
  };
}

/** The waits of one series: their number up to each bound and beyond the last, and their sum. */
interface CountedWaits {
  readonly labels: Readonly<Record<string, string>>;
  readonly counts: readonly number[];
  readonly sumMs: number;
}

/** A histogram that another part of the program counts. `boundsMs`: ascending. */
export function scrapedHistogram(
  name: string,
  help: string,
  boundsMs: readonly number[],
  read: (scrape: Scrape) => readonly CountedWaits[],
): ScrapedMetric {
  return (registry) => {
    const metric = new CountedHistogram({ name, help, registers: [registry] });
    return (scrape) => {
      metric.values = read(scrape).flatMap((series) => histogramSeries(name, boundsMs, series));
    };
  };
}

interface HistogramValue {
  readonly metricName: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

/** prom-client counts each value that it observes. These are counted already. */
class CountedHistogram extends Histogram {
  values: readonly HistogramValue[] = [];
  readonly #options: { readonly name: string; readonly help: string };

  constructor(options: { name: string; help: string; registers: Registry[] }) {
    super(options);
    this.#options = options;
  }

  /** Called by the registry. */
  getForPromString(): object {
    const { name, help } = this.#options;
    return { name, help, type: 'histogram', values: this.values };
  }
}

function histogramSeries(
  name: string,
  boundsMs: readonly number[],
  { labels, counts, sumMs }: CountedWaits,
): readonly HistogramValue[] {
  const upTo = (index: number): number => sumOf(counts.slice(0, index + 1), (count) => count);
  const total = upTo(boundsMs.length);
  return [
    ...boundsMs.map((bound, index) => ({
      metricName: `${name}_bucket`,
      labels: { le: bound / 1000, ...labels },
      value: upTo(index),
    })),
    { metricName: `${name}_bucket`, labels: { le: '+Inf', ...labels }, value: total },
    { metricName: `${name}_sum`, labels, value: sumMs / 1000 },
    { metricName: `${name}_count`, labels, value: total },
  ];
}

/** Without labels. */
export function scrapedNumber(name: string, help: string, read: (scrape: Scrape) => number | undefined): ScrapedMetric {
  return scraped(name, help, [], (scrape) => [[{}, read(scrape)]]);
}

export function flag(isTrue: boolean): 0 | 1 {
  return isTrue ? 1 : 0;
}

/** Unix time of an instant. */
export function unixSeconds({ now, wallClock }: Scrape, at: Instant | undefined): number | undefined {
  return at === undefined ? undefined : Math.round(wallClock - (now - at)) / 1000;
}
