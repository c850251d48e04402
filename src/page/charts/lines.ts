// The lines of the charts of the last hour, from the samples. Pure.
import type { SamplesDocument } from '../../documents/samples-document.ts';

/** In one chart. More could not be told apart. */
const MOST_LINES = 8;

export interface ChartLine {
  readonly name: string;
  /** As many as there are times. Null: unknown, so the line has a gap. */
  readonly values: readonly (number | null)[];
}

export interface ChartLines {
  readonly times: readonly number[];
  readonly sessions: readonly ChartLine[];
  readonly waiting: readonly ChartLine[];
  readonly lag: readonly ChartLine[];
  /** Members with lag that have no line. */
  readonly leftOut: number;
}

export const NO_LINES: ChartLines = { times: [], sessions: [], waiting: [], lag: [], leftOut: 0 };

export function linesOf({ times, pools, members }: SamplesDocument): ChartLines {
  const all = Object.entries(pools).slice(0, MOST_LINES);
  const lagging = Object.entries(members)
    .map(([name, { lag_bytes }]): ChartLine => ({ name, values: lag_bytes }))
    .filter(({ values }) => values.some((value) => value !== null));
  return {
    times,
    sessions: [...all.map(([name, { sessions }]) => ({ name, values: sessions })), ...parkedOf(all)].slice(
      0,
      MOST_LINES,
    ),
    waiting: all.map(([name, series]) => ({ name, values: series.waiting })),
    lag: mostLag(lagging),
    leftOut: Math.max(0, lagging.length - MOST_LINES),
  };
}

/** For the pools that had parked sessions: without moves there is no such line. */
function parkedOf(pools: readonly [string, SamplesDocument['pools'][string]][]): readonly ChartLine[] {
  return pools
    .map(([name, { parked }]): ChartLine => ({ name: `${name}, parked`, values: parked }))
    .filter((line) => most(line) > 0);
}

function most({ values }: ChartLine): number {
  return Math.max(0, ...values.map((value) => value ?? 0));
}

/** In the order of the members, so that a line keeps its colour. */
function mostLag(lines: readonly ChartLine[]): readonly ChartLine[] {
  if (lines.length <= MOST_LINES) return lines;
  const kept = new Set(lines.toSorted((a, b) => most(b) - most(a)).slice(0, MOST_LINES));
  return lines.filter((line) => kept.has(line));
}

/** A chart in words, for screen readers: `Sessions of the last hour. write: 42 now, 0 to 57.` */
export function summaryOf(
  title: string,
  lines: readonly ChartLine[],
  format: (value: number) => string,
  empty: string,
): string {
  if (lines.length === 0) return `${title}: ${empty}`;
  const parts = lines.map(({ name, values }) => {
    const known = values.filter((value) => value !== null);
    const now = values.at(-1);
    if (known.length === 0) return `${name}: unknown`;
    const [least, most] = [Math.min(...known), Math.max(...known)];
    const range = least === most ? `always ${format(most)}` : `${format(least)} to ${format(most)}`;
    return `${name}: ${now === null || now === undefined ? 'unknown' : format(now)} now, ${range}`;
  });
  return `${title} of the last hour. ${parts.join('. ')}.`;
}
