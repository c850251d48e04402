// One run as a picture: the faults, the server that executed writes, and what clients were told, over time.
import { FIRST_DIRECT_CLIENT, type FaultRecord } from '../history.ts';
import { clock, escape } from './html.ts';
import type { JudgedRun } from './judged-run.ts';

const WIDTH = 1100;
const LEFT = 120;
const ROW = 26;
const RATE_HEIGHT = 60;

const COLOURS: readonly (readonly [RegExp, string])[] = [
  [/^switchover|^restart/, 'operation'],
  [/^kill|crash/, 'kill'],
  [/^freeze/, 'freeze'],
  [/cut off/, 'cut'],
  [/store/, 'store'],
];

export function classOf({ kind }: Pick<FaultRecord, 'kind'>): string {
  return COLOURS.find(([pattern]) => pattern.test(kind))?.[1] ?? 'other';
}

interface Row {
  readonly label: string;
  readonly height: number;
  readonly drawn: readonly string[];
}

export function timeline({ run, judgement }: JudgedRun): string {
  const { fromMs, toMs, history, members } = run;
  // Clients are at work a moment earlier than the run counts.
  const share = (ms: number): number => Math.max(0, (ms - fromMs) / (toMs - fromMs));
  const x = (ms: number): number => Math.round(LEFT + share(ms) * (WIDTH - LEFT - 10));
  const late = new Set([...judgement.fence.late, ...judgement.fence.direct].map((one) => one.executed));
  const byServer = (server: string): Row['drawn'] => {
    const executed = history.executed.filter((one) => one.server === server && !late.has(one));
    const marks = [...late].filter((one) => one.server === server);
    return [
      ...bands(executed, x),
      ...ticks(
        marks.filter(isDirect).map(({ atMs }) => atMs),
        x,
        'direct',
      ),
      ...ticks(
        marks.filter((one) => !isDirect(one)).map(({ atMs }) => atMs),
        x,
        'late',
      ),
    ];
  };
  const told = (outcome: string): readonly number[] =>
    history.writes.filter((write) => write.outcome === outcome).map(({ endedAtMs }) => endedAtMs);
  const rows: readonly Row[] = [
    { label: 'faults', height: ROW, drawn: history.faults.map((fault, at) => faultBar(fault, at + 1, x)) },
    ...members.map(({ name, server }) => ({ label: `${name} writes`, height: ROW, drawn: byServer(server) })),
    { label: 'commits per s', height: RATE_HEIGHT, drawn: rate(told('acknowledged'), fromMs, toMs, x) },
    { label: 'result unknown', height: ROW, drawn: ticks(told('unknown'), x, 'unknown') },
    { label: 'refused', height: ROW, drawn: ticks(told('refused'), x, 'refused') },
    {
      label: 'lost',
      height: ROW,
      drawn: ticks(
        judgement.losses.map(({ write }) => write.endedAtMs),
        x,
        'lost',
      ),
    },
  ];
  return draw(rows, fromMs, toMs, x);
}

function draw(rows: readonly Row[], fromMs: number, toMs: number, x: (ms: number) => number): string {
  let y = 4;
  const groups = rows.map(({ label, height, drawn }) => {
    const group = `<g transform="translate(0 ${y})"><text x="0" y="${height / 2 + 4}">${escape(label)}</text>
      <line class="base" x1="${LEFT}" x2="${WIDTH - 10}" y1="${height - 2}" y2="${height - 2}"/>${drawn.join('')}</g>`;
    y += height + 4;
    return group;
  });
  const everyMs = toMs - fromMs > 240_000 ? 60_000 : 15_000;
  const marks = Array.from({ length: Math.floor((toMs - fromMs) / everyMs) + 1 }, (_, at) => at * everyMs);
  const axis = marks.map((ms) => `<text class="axis" x="${x(fromMs + ms)}" y="${y + 12}">${clock(ms)}</text>`);
  const drawn = [...groups, ...axis].join('');
  return `<svg viewBox="0 0 ${WIDTH} ${y + 18}" role="img" aria-label="The run over time">${drawn}</svg>`;
}

function faultBar(fault: FaultRecord, number: number, x: (ms: number) => number): string {
  const [from, to] = [x(fault.fromMs), x(fault.toMs)];
  const width = Math.max(3, to - from);
  const title = `${number}. ${fault.kind} (${fault.on})`;
  const label = width > 14 ? `<text class="on-bar" x="${from + width / 2}" y="16">${number}</text>` : '';
  const bar = `<rect x="${from}" y="2" width="${width}" height="20" rx="2" class="${classOf(fault)}"/>`;
  return `<g><title>${escape(title)}</title>${bar}${label}</g>`;
}

/** A band for each stretch in which the server executed writes on one timeline. */
function bands(
  executed: readonly { readonly atMs: number; readonly timeline: number }[],
  x: (ms: number) => number,
): Row['drawn'] {
  const numbers = [...new Set(executed.map(({ timeline: number }) => number))];
  return numbers.map((number) => {
    const times = executed.filter((one) => one.timeline === number).map(({ atMs }) => atMs);
    const [from, to] = [x(least(times)), x(most(times))];
    const width = Math.max(2, to - from);
    const label = width > 70 ? `timeline ${number}` : width > 14 ? String(number) : '';
    const text = `<text class="on-bar" x="${from + width / 2}" y="16">${label}</text>`;
    const bar = `<rect class="primary" x="${from}" y="3" width="${width}" height="18"/>`;
    return `<g><title>timeline ${number}</title>${bar}${text}</g>`;
  });
}

/** One for each place of the picture, however many fall on it. */
function ticks(times: readonly number[], x: (ms: number) => number, name: string): Row['drawn'] {
  return [...new Set(times.map(x))].map((at) => `<line class="tick ${name}" x1="${at}" x2="${at}" y1="3" y2="21"/>`);
}

function rate(times: readonly number[], fromMs: number, toMs: number, x: (ms: number) => number): Row['drawn'] {
  const seconds = Math.max(1, Math.ceil((toMs - fromMs) / 1000));
  const counts = Array.from({ length: seconds }, () => 0);
  for (const ms of times) {
    const at = Math.floor((ms - fromMs) / 1000);
    counts[at] = (counts[at] ?? 0) + 1;
  }
  const top = Math.max(1, most(counts));
  const points = counts
    .slice(0, seconds)
    .map((count, at) => `${x(fromMs + at * 1000)},${Math.round(RATE_HEIGHT - 4 - (count / top) * (RATE_HEIGHT - 10))}`);
  const corners = [`${x(fromMs)},${RATE_HEIGHT - 2}`, ...points, `${x(toMs)},${RATE_HEIGHT - 2}`];
  const label = `<text class="axis" x="${LEFT - 4}" y="12" text-anchor="end">${top}</text>`;
  return [`<polygon class="rate" points="${corners.join(' ')}"/>${label}`];
}

function isDirect({ client }: { readonly client: number }): boolean {
  return client >= FIRST_DIRECT_CLIENT;
}

function least(values: readonly number[]): number {
  return values.reduce((a, b) => Math.min(a, b), Infinity);
}

function most(values: readonly number[]): number {
  return values.reduce((a, b) => Math.max(a, b), -Infinity);
}
