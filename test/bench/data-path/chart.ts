// The chart: each peer's ratio to HAProxy, processor time on the left (shorter is better) and work per second on the
// right (longer is better). It is an SVG, drawn without a browser.
import { init, use } from 'echarts/core';
import { BarChart } from 'echarts/charts';
import { GridComponent, LegendComponent, MarkLineComponent, TitleComponent } from 'echarts/components';
import { SVGRenderer } from 'echarts/renderers';
import { type Line, REFERENCE, referenceOf } from './sample.ts';

use([BarChart, GridComponent, LegendComponent, MarkLineComponent, TitleComponent, SVGRenderer]);

const WIDTH = 1200;
const PER_LINE = 42;
const AROUND = 130;
const COLOURS = ['#3b6fb6', '#e08a1e', '#4c9f70', '#a05195', '#7a7a7a'];

interface Half {
  readonly title: string;
  readonly lines: readonly Line[];
}

export function chart(all: readonly Line[]): string {
  const lines = all.filter(({ part }) => referenceOf(part) === REFERENCE);
  const halves: readonly Half[] = [
    { title: 'processor time: times HAProxy', lines: lines.filter(({ metric }) => metric.startsWith('CPU')) },
    { title: 'work per second: times HAProxy', lines: lines.filter(({ metric }) => metric.endsWith('per s')) },
  ];
  const peers = [...new Set(lines.flatMap((line) => line.peers.map(({ peer }) => peer)))].filter(
    (peer) => peer !== 'direct' && peer !== REFERENCE,
  );
  const height = AROUND + PER_LINE * Math.max(1, ...halves.map((half) => half.lines.length));
  const drawn = init(null, null, { renderer: 'svg', ssr: true, width: WIDTH, height });
  drawn.setOption({
    animation: false,
    color: COLOURS,
    backgroundColor: '#ffffff',
    title: halves.map(({ title }, at) => ({
      text: title,
      left: at === 0 ? '14%' : '64%',
      top: 8,
      textStyle: { fontSize: 14 },
    })),
    legend: { bottom: 8, data: peers },
    grid: [
      { left: '14%', right: '52%', top: 45, bottom: 60 },
      { left: '64%', right: '2%', top: 45, bottom: 60 },
    ],
    xAxis: halves.map((_, at) => ({ type: 'value', gridIndex: at, min: 0 })),
    yAxis: halves.map(({ lines: own }, at) => ({
      type: 'category',
      gridIndex: at,
      inverse: true,
      data: own.map(({ part, scene }) => `${part}\n${scene}`),
      axisLabel: { fontSize: 10 },
    })),
    series: halves.flatMap((half, at) => peers.map((peer) => bars(half, at, peer))),
  });
  const svg = drawn.renderToSVGString();
  drawn.dispose();
  return svg;
}

function bars({ lines }: Half, at: number, peer: string): Readonly<Record<string, unknown>> {
  const ratios = lines.map((line) => line.peers.find((summary) => summary.peer === peer)?.ratio);
  return {
    type: 'bar',
    name: peer,
    xAxisIndex: at,
    yAxisIndex: at,
    data: ratios.map((ratio) => (ratio === undefined ? '-' : Number(ratio.toFixed(3)))),
    label: { show: true, position: 'right', fontSize: 9 },
    markLine: { symbol: 'none', silent: true, label: { show: false }, data: [{ xAxis: 1 }] },
  };
}
