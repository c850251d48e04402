// Sessions, waiting clients and lag over the last hour.
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { StatusDocument } from '../../documents/status-document.ts';
import { Panel } from '../components/panel.tsx';
import { withPoint } from '../state/samples.ts';
import { usePageState } from '../state/store.ts';
import { numberText, sizeText } from '../view/words.ts';
import { Chart } from './chart.tsx';
import { NO_LINES, linesOf } from './lines.ts';

export function Charts({ status }: { readonly status: StatusDocument }): JSX.Element {
  const { samples } = usePageState();
  const shown = useMemo(() => samples && linesOf(withPoint(samples, status)), [samples, status]);
  const { times, sessions, waiting, lag, leftOut } = shown ?? NO_LINES;
  const charts = [
    { title: 'Sessions', lines: sessions, format: numberText, unit: 'count', empty: 'No pools.' },
    { title: 'Waiting clients', lines: waiting, format: numberText, unit: 'count', empty: 'No pools.' },
    { title: 'Replication lag', lines: lag, format: sizeText, unit: 'bytes', empty: 'No replicas.' },
  ] as const;
  return (
    <Panel title="Last hour in numbers">
      {charts.map(({ empty, ...chart }) => (
        <Chart
          key={chart.title}
          {...chart}
          times={times}
          empty={samples === undefined ? 'Reading the last hour …' : empty}
        />
      ))}
      {leftOut > 0 && <p class="chart-empty">{leftOut} more members have less lag, or had it longer ago.</p>}
    </Panel>
  );
}
