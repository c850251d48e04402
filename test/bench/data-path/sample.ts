// One figure of one peer in one round, and the summary of all rounds.
import { median } from '../../support/values/median.ts';

export interface Sample {
  readonly part: string;
  /** For example `64 connections`. */
  readonly scene: string;
  /** The name with the unit, for example `CPU per round trip, µs`. */
  readonly metric: string;
  readonly peer: string;
  readonly round: number;
  readonly value: number;
}

export interface Summary {
  readonly peer: string;
  readonly median: number;
  readonly least: number;
  readonly most: number;
  /** The median of the rounds' own ratios to the reference; undefined without a reference. */
  readonly ratio: number | undefined;
  /** The middle half of those ratios, from the first to the third quartile. */
  readonly ratioSpread: readonly [number, number] | undefined;
}

export interface Line {
  readonly part: string;
  readonly scene: string;
  readonly metric: string;
  readonly peers: readonly Summary[];
}

/** The peer with which the others are compared. */
export const REFERENCE = 'haproxy';

const REFERENCES: Readonly<Record<string, string>> = { tls: 'terminate', moves: 'none' };

/** The same in a part. */
export function referenceOf(part: string): string {
  return REFERENCES[part] ?? REFERENCE;
}

/** In the order of the samples; in each scene processor time comes first, because it is the stable figure. */
export function summarise(samples: readonly Sample[]): readonly Line[] {
  const scenes = Map.groupBy(samples, ({ part, scene }) => [part, scene].join('\0'));
  return [...scenes.values()].flatMap((scene) =>
    linesOf(scene).toSorted((a, b) => Number(isSteady(b)) - Number(isSteady(a))),
  );
}

function isSteady({ metric }: Line): boolean {
  return metric.startsWith('CPU');
}

function linesOf(scene: readonly Sample[]): readonly Line[] {
  return [...Map.groupBy(scene, ({ metric }) => metric).values()].flatMap((line) => {
    const [first] = line;
    if (first === undefined) return [];
    const byPeer = Map.groupBy(line, ({ peer }) => peer);
    const reference = new Map(byPeer.get(referenceOf(first.part))?.map(({ round, value }) => [round, value]));
    const peers = [...byPeer].map(([peer, own]) => summaryOf(peer, own, reference));
    return [{ part: first.part, scene: first.scene, metric: first.metric, peers }];
  });
}

function summaryOf(peer: string, own: readonly Sample[], reference: ReadonlyMap<number, number>): Summary {
  const values = own.map(({ value }) => value);
  const ratios = own
    .flatMap(({ round, value }) => {
      const base = reference.get(round);
      return base === undefined || base === 0 ? [] : [value / base];
    })
    .toSorted((a, b) => a - b);
  const quarter = (part: number): number => ratios[Math.round((ratios.length - 1) * part)] ?? Number.NaN;
  return {
    peer,
    median: median(values),
    least: Math.min(...values),
    most: Math.max(...values),
    ratio: ratios.length === 0 ? undefined : median(ratios),
    ratioSpread: ratios.length === 0 ? undefined : [quarter(0.25), quarter(0.75)],
  };
}
