// One chart of the last hour, with a legend that has the current values, and a sentence for screen readers.
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { clockText } from '../view/words.ts';
import { summaryOf, type ChartLine } from './lines.ts';
import { ticksBetween, topOf, windowOf, type Unit } from './scale.ts';

interface ChartProps {
  readonly title: string;
  /** Seconds since 1970, ascending. The last one is now. */
  readonly times: readonly number[];
  readonly lines: readonly ChartLine[];
  readonly format: (value: number) => string;
  readonly unit: Unit;
  /** Instead of the chart when there is no line. */
  readonly empty: string;
}

const HEIGHT = 96;
const AXIS_WIDTH = 58;
const AXIS_HEIGHT = 20;
/** Lines differ in their dashes as well as in colour. charts.css has the same for the legend, page.css the colours. */
const DASHES: readonly number[][] = [[], [7, 4], [2, 3], [10, 3, 2, 3]];

export function Chart({ title, times, lines, format, unit, empty }: ChartProps): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  const legend = useRef<HTMLUListElement>(null);
  const plot = useRef<uPlot>(undefined);
  const names = lines.map(({ name }) => name).join('\n');
  useEffect(() => {
    if (place.current === null || names === '') return undefined;
    const made = new uPlot(optionsOf(names.split('\n'), place.current, legend, { format, unit }), [[]], place.current);
    plot.current = made;
    const redraw = (): void => made.redraw(false);
    const observer = new ResizeObserver(([entry]) => {
      if (entry !== undefined) made.setSize({ width: Math.floor(entry.contentRect.width), height: HEIGHT });
    });
    observer.observe(place.current);
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    scheme.addEventListener('change', redraw);
    return () => {
      scheme.removeEventListener('change', redraw);
      observer.disconnect();
      made.destroy();
      plot.current = undefined;
    };
  }, [names, format, unit]);
  useEffect(() => {
    plot.current?.setData([[...times], ...lines.map(({ values }) => [...values])]);
  }, [times, lines]);
  return (
    <div class="chart">
      <h3 class="chart-title">{title}</h3>
      <div class="chart-place" role="img" aria-label={summaryOf(title, lines, format, empty)}>
        {lines.length === 0 ? <p class="chart-empty">{empty}</p> : <div ref={place} />}
      </div>
      <ul class="chart-legend" ref={legend} aria-hidden="true">
        {lines.map(({ name, values }, index) => {
          const now = values.at(-1);
          return (
            <li key={name} style={{ color: `var(--line-${index})` }}>
              <span class="chart-name">{name}</span> {now === null || now === undefined ? '–' : format(now)}
            </li>
          );
        })}
      </ul>
    </div>
  );
}

function optionsOf(
  names: readonly string[],
  place: HTMLElement,
  legend: { readonly current: HTMLElement | null },
  { format, unit }: Pick<ChartProps, 'format' | 'unit'>,
): uPlot.Options {
  // The legend has the colours of the style sheet, resolved for dark and light.
  const colour = (index: number): string => {
    const item = legend.current?.children[index];
    return item === undefined ? 'gray' : getComputedStyle(item).color;
  };
  const text = (): string => getComputedStyle(place).color;
  const grid = { stroke: () => getComputedStyle(place).borderTopColor, width: 1 };
  const font = `11px ${getComputedStyle(place).fontFamily}`;
  return {
    width: place.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { show: false },
    padding: [6, 18, 0, 0],
    scales: {
      x: { time: true, range: (_, first, last) => [last - windowOf(last - first), last] },
      y: { range: (_, __, most) => [0, topOf(most, unit)] },
    },
    axes: [
      {
        stroke: text,
        grid,
        ticks: { show: false },
        font,
        size: AXIS_HEIGHT,
        splits: (_, __, from, to) => ticksBetween(from, to),
        values: (_, splits) => splits.map(clock),
      },
      {
        stroke: text,
        grid,
        ticks: { show: false },
        font,
        size: AXIS_WIDTH,
        gap: 4,
        splits: (_, __, ___, most) => [0, most / 2, most],
        values: (_, splits) => splits.map(format),
      },
    ],
    series: [
      {},
      ...names.map((_, index) => ({
        stroke: () => colour(index),
        width: 1.5,
        dash: DASHES[index % DASHES.length] ?? [],
        points: { show: false },
      })),
    ],
  };
}

/** 14:30 */
function clock(seconds: number): string {
  return clockText(seconds * 1000).slice(0, 5);
}
