// The arithmetic of the data path benchmark: it takes a ratio in each round and reports the median ratio.
import { describe, expect, test } from 'vitest';
import { chart } from '../../bench/data-path/chart.ts';
import { lossesOf } from '../../bench/data-path/baseline.ts';
import { readOptions } from '../../bench/data-path/options.ts';
import { type Sample, summarise } from '../../bench/data-path/sample.ts';
import { tables } from '../../bench/data-path/table.ts';

function samplesOf(peer: string, values: readonly number[], metric = 'CPU per round trip, µs'): readonly Sample[] {
  return values.map((value, at) => ({
    part: 'ping-pong',
    scene: '1 connection',
    metric,
    peer,
    round: at + 1,
    value,
  }));
}

describe('the summary of the rounds', () => {
  const [line] = summarise([...samplesOf('haproxy', [10, 20, 40]), ...samplesOf('pointsman', [11, 24, 40])]);
  const pointsman = line?.peers.find(({ peer }) => peer === 'pointsman');

  test('the ratio is the median of the round ratios, not the ratio of the medians', () => {
    expect(pointsman?.median).toBe(24);
    expect(pointsman?.ratio).toBeCloseTo(1.1);
    expect(pointsman?.ratioSpread?.[0]).toBeGreaterThanOrEqual(1);
  });

  test('the summary reports the least and the most', () => {
    expect([pointsman?.least, pointsman?.most]).toEqual([11, 40]);
  });

  test('there is no ratio without HAProxy', () => {
    expect(summarise(samplesOf('pointsman', [1]))[0]?.peers[0]?.ratio).toBeUndefined();
  });

  test('processor time comes first', () => {
    const lines = summarise([...samplesOf('direct', [5], 'round trips per s'), ...samplesOf('haproxy', [1])]);
    expect(lines.map(({ metric }) => metric)).toEqual(['CPU per round trip, µs', 'round trips per s']);
  });

  test('a table has a column for each peer and the ratio in bold', () => {
    const text = tables(summarise([...samplesOf('haproxy', [10]), ...samplesOf('pointsman', [12])]));
    expect(text).toContain('| haproxy |');
    expect(text).toContain('12.0 · **1.20**');
  });
});

describe('the committed ratios', () => {
  const lines = summarise([...samplesOf('haproxy', [10]), ...samplesOf('pointsman', [20])]);

  test.each<[string, number, number]>([
    ['as it was', 2, 0],
    ['worse by what noise makes', 1.3, 0],
    ['grossly worse', 1.2, 1],
  ])('%s', (_, ratio, losses) => {
    expect(lossesOf(lines, { 'ping-pong': { '1 connection': ratio } })).toHaveLength(losses);
  });

  test('a missing measurement is no success', () => {
    expect(lossesOf(lines, { 'ping-pong': { '8 connections': 2 } })).toEqual([
      'ping-pong, 8 connections: not measured',
    ]);
  });
});

test('the chart has a bar for each peer except the reference', () => {
  const svg = chart(summarise([...samplesOf('haproxy', [10]), ...samplesOf('pointsman', [12])]));
  expect(svg).toMatch(/^<svg /);
  expect(svg).toContain('pointsman');
  expect(svg).toContain('1.2');
});

describe('the command line', () => {
  test('another checkout is a variant beside Pointsman', () => {
    const { variants } = readOptions(['--candidate', '/here', '--also', 'before=/there']);
    expect([...variants].map(([name, { checkout }]) => [name, checkout])).toEqual([
      ['pointsman', '/here'],
      ['before', '/there'],
    ]);
  });

  test('a variant may consist of settings', () => {
    const { variants } = readOptions(['--peers', 'haproxy', '--also', 'gc={"nodeFlags":["--single-threaded-gc"]}']);
    expect(variants.get('gc')?.nodeFlags).toEqual(['--single-threaded-gc']);
    expect(variants.has('pointsman')).toBe(false);
  });
});
