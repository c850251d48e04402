// The tables of test/bench/README.md.
import { type Line, type Summary, referenceOf } from './sample.ts';

/** Markdown: one table per part; a cell has the median, (least–most), and the ratio to the reference in that round. */
export function tables(lines: readonly Line[]): string {
  const parts = Map.groupBy(lines, ({ part }) => part);
  return [...parts].map(([part, own]) => `### ${part}\n\n${table(own)}`).join('\n\n');
}

function table(lines: readonly Line[]): string {
  const peers = [...new Set(lines.flatMap((line) => line.peers.map(({ peer }) => peer)))];
  const rows = [
    ['', '', ...peers],
    ...lines.map((line) => [
      line.scene,
      line.metric,
      ...peers.map((peer) =>
        cell(
          line.peers.find((summary) => summary.peer === peer),
          referenceOf(line.part),
        ),
      ),
    ]),
  ];
  const widths = rows[0]?.map((_, column) => Math.max(3, ...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  const draw = (row: readonly string[]): string =>
    `| ${row.map((text, at) => text.padEnd(widths[at] ?? 0)).join(' | ')} |`;
  const [header = [], ...body] = rows;
  return [draw(header), `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...body.map(draw)].join('\n');
}

function cell(summary: Summary | undefined, reference: string): string {
  if (summary === undefined) return '';
  const { peer, median, least, most, ratio, ratioSpread } = summary;
  const spread = least === most ? '' : ` (${shown(least)}–${shown(most)})`;
  if (ratio === undefined || peer === reference) return `${shown(median)}${spread}`;
  const [low = ratio, high = ratio] = ratioSpread ?? [];
  return `${shown(median)}${spread} · **${ratio.toFixed(2)}** [${low.toFixed(2)}–${high.toFixed(2)}]`;
}

export const LEGEND =
  'Cells: median of the rounds (least–most) · **ratio to HAProxy** (`tls`: to `terminate`; `moves`: to `none`), ' +
  "the median of each round's own ratio [middle half of them].";

function shown(value: number): string {
  if (!Number.isFinite(value)) return 'none';
  const digits = Math.abs(value) >= 1000 ? 0 : Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toFixed(digits);
}
