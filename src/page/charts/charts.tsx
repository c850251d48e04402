// Sessions, waiting clients and lag over the last hour.
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { SamplesDocument } from '../../admin/schema/samples.ts';
import type { StatusDocument } from '../../admin/schema/status.ts';
import { Panel } from '../components/panel.tsx';
import { withPoint } from '../state/samples.ts';
import { usePageState } from '../state/use-store.ts';
import { numberText, sizeText } from '../view/words.ts';
import { Chart } from './chart.tsx';
import type { Line } from './chart.tsx';

/** In one chart. More could not be told apart. */
const MOST_LINES = 8;

export function Charts({ status }: { readonly status: StatusDocument }): JSX.Element {
  const { samples } = usePageState();
  const shown = useMemo(() => samples && linesOf(withPoint(samples, status)), [samples, status]);
  const { times, sessions, waiting, lag, leftOut } = shown ?? NOTHING;
  const empty = samples === undefined ? 'Reading the last hour …' : '';
  return (
    <Panel title="Last hour in numbers">
      <Chart
        title="Sessions"
        times={times}
        lines={sessions}
        format={numberText}
        unit="count"
        empty={empty || 'No pools.'}
      />
      <Chart
        title="Waiting clients"
        times={times}
        lines={waiting}
        format={numberText}
        unit="count"
        empty={empty || 'No pools.'}
      />
      <Chart
        title="Replication lag"
        times={times}
        lines={lag}
        format={sizeText}
        unit="bytes"
        empty={empty || 'No replicas.'}
      />
      {leftOut > 0 && <p class="chart-empty">{leftOut} more members have less lag, or had it longer ago.</p>}
    </Panel>
  );
}

interface Shown {
  readonly times: readonly number[];
  readonly sessions: readonly Line[];
  readonly waiting: readonly Line[];
  readonly lag: readonly Line[];
  /** Members with lag that have no line. */
  readonly leftOut: number;
}

const NOTHING: Shown = { times: [], sessions: [], waiting: [], lag: [], leftOut: 0 };

function linesOf({ times, pools, members }: SamplesDocument): Shown {
  const all = Object.entries(pools).slice(0, MOST_LINES);
  const lagging = Object.entries(members)
    .map(([name, { lag_bytes }]): Line => ({ name, values: lag_bytes }))
    .filter(({ values }) => values.some((value) => value !== null));
  return {
    times,
    sessions: all.map(([name, series]) => ({ name, values: series.sessions })),
    waiting: all.map(([name, series]) => ({ name, values: series.waiting })),
    lag: mostLag(lagging),
    leftOut: Math.max(0, lagging.length - MOST_LINES),
  };
}

function most({ values }: Line): number {
  return Math.max(0, ...values.map((value) => value ?? 0));
}

/** In the order of the members, so that a line keeps its colour. */
function mostLag(lines: readonly Line[]): readonly Line[] {
  if (lines.length <= MOST_LINES) return lines;
  const kept = new Set(lines.toSorted((a, b) => most(b) - most(a)).slice(0, MOST_LINES));
  return lines.filter((line) => kept.has(line));
}
