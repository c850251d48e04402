// Sessions, waiting clients and lag over the last hour.
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { StatusDocument } from '../../documents/status-document.ts';
import { Panel } from '../components/panel.tsx';
import { withPoint } from '../state/samples.ts';
import { usePageState } from '../state/use-store.ts';
import { numberText, sizeText } from '../view/words.ts';
import { Chart } from './chart.tsx';
import { NO_LINES, linesOf } from './lines.ts';

export function Charts({ status }: { readonly status: StatusDocument }): JSX.Element {
  const { samples } = usePageState();
  const shown = useMemo(() => samples && linesOf(withPoint(samples, status)), [samples, status]);
  const { times, sessions, waiting, lag, leftOut } = shown ?? NO_LINES;
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
