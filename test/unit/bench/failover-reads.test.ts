// The second table of the failover benchmark: lost reads.
import { expect, test } from 'vitest';
import { missedReadBars, readTable, type ReadRounds } from '../../bench/failover/read-table.ts';

const PEER = 'Pointsman';
const NONE: ReadRounds = { silences: [], lags: [], fallbacks: [] };

function of(...figures: readonly (readonly [pooledMs: number, reconnectingMs: number])[]) {
  return figures.map(([pooledMs, reconnectingMs]) => new Map([[PEER, { pooledMs, reconnectingMs }]]));
}

test('a good run keeps the limits, and scenes that did not run are neither judged nor drawn', () => {
  const good = { ...NONE, silences: of([2900, 490]), fallbacks: of([700, Number.NaN]) };
  expect(missedReadBars(PEER, good)).toEqual([]);
  expect(missedReadBars(PEER, NONE)).toEqual([]);
  expect(readTable([PEER], NONE)).toBeUndefined();
});

test('a missed limit names the scene and the figure', () => {
  const bad = { ...NONE, silences: of([3100, 400], [2000, 400]), lags: of([Infinity, 100]) };
  expect(missedReadBars(PEER, bad)).toEqual([
    'a replica vanishes silently: longest gap, pooled, ms: 3100, the bar is 3000',
    'a replica stops replaying: last read there, pooled, ms: still, the bar is 10000',
  ]);
});

test('each round has its figure; a peer without one has an empty cell', () => {
  const drawn = readTable([PEER, 'other'], { ...NONE, lags: of([4000.4, Number.NaN], [Infinity, 1]) })?.split('\n');
  expect(drawn?.slice(2)).toEqual([
    '| a replica stops replaying: last read there, pooled, ms | 4000, still |  | ≤ 10000 |',
    '| a replica stops replaying: last read there, reconnecting, ms | none, 1 |  | ≤ 10000 |',
  ]);
});
