// The second table: the losses of readers, and whether Pointsman kept its bars for them.
import type { ReadFigures } from './read-scenes.ts';

type Round = ReadonlyMap<string, ReadFigures>;

/** One entry per round of each scene. */
export interface ReadRounds {
  readonly silences: readonly Round[];
  readonly lags: readonly Round[];
  readonly fallbacks: readonly Round[];
}

interface Line {
  readonly title: string;
  readonly scene: keyof ReadRounds;
  readonly figure: keyof ReadFigures;
  readonly barMs: number;
}

const LINES: readonly Line[] = [
  { title: 'a replica vanishes silently: longest gap, pooled, ms', scene: 'silences', figure: 'pooledMs', barMs: 3000 },
  {
    title: 'a replica vanishes silently: longest gap, reconnecting, ms',
    scene: 'silences',
    figure: 'reconnectingMs',
    barMs: 500,
  },
  { title: 'a replica stops replaying: last read there, pooled, ms', scene: 'lags', figure: 'pooledMs', barMs: 10_000 },
  {
    title: 'a replica stops replaying: last read there, reconnecting, ms',
    scene: 'lags',
    figure: 'reconnectingMs',
    barMs: 10_000,
  },
  {
    title: 'a fallback is over: last read on the primary, pooled, ms',
    scene: 'fallbacks',
    figure: 'pooledMs',
    barMs: 60_000,
  },
];

export const READ_LEGEND = `\
Readers are four clients that keep their session and two that connect for each read; each reads again 50 ms after an
answer.

- **Longest gap**: of any of them, while packets to and from the replica are dropped, for 25 s. One figure per round.
- **Last read**: counted from the fault (a frozen startup process, then 32 MB of WAL; the lag limit is 16 MB), or from
  the return of a replica. "still": reads continued until the end of the scene, 25 s or 40 s. "none": that server
  answered no read.`;

/** Markdown; undefined when no scene ran. */
export function readTable(peers: readonly string[], rounds: ReadRounds): string | undefined {
  const played = LINES.filter(({ scene }) => rounds[scene].length > 0);
  if (played.length === 0) return undefined;
  const rows = played.map((line) => {
    const cells = peers.map((peer) => shown(valuesOf(peer, line, rounds)));
    return `| ${[line.title, ...cells, `≤ ${line.barMs}`].join(' | ')} |`;
  });
  const header = `| ${['', ...peers, 'bar'].join(' | ')} |`;
  return [header, `|${'---|'.repeat(peers.length + 2)}`, ...rows].join('\n');
}

/** The missed bars as sentences; empty when all were kept. A scene that did not run is not judged. */
export function missedReadBars(peer: string, rounds: ReadRounds): readonly string[] {
  return LINES.flatMap((line) => {
    const missed = valuesOf(peer, line, rounds).filter((ms) => ms > line.barMs);
    return missed.length === 0 ? [] : [`${line.title}: ${shown(missed)}, the bar is ${line.barMs}`];
  });
}

function valuesOf(peer: string, { scene, figure }: Line, rounds: ReadRounds): readonly number[] {
  return rounds[scene].flatMap((round) => round.get(peer)?.[figure] ?? []);
}

function shown(values: readonly number[]): string {
  if (values.length === 0) return '';
  return values
    .map((ms) => (Number.isNaN(ms) ? 'none' : Number.isFinite(ms) ? String(Math.round(ms)) : 'still'))
    .join(', ');
}
