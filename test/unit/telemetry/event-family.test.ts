// The values of events wait until the scrape: it has all of them, in the order in which their series began.
import { expect, test } from 'vitest';
import { eventFamilyIn } from '../../../src/telemetry/event-family.ts';
import { Registry } from '../../../src/telemetry/prometheus.ts';

async function samplesOf(registry: Registry): Promise<readonly string[]> {
  return (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

test('a scrape has every value of a total, once', async () => {
  const registry = new Registry();
  const family = eventFamilyIn(registry, 'closed_total', 'help', ['pool', 'reason']);
  family.begin({ pool: 'write', reason: 'reset' }, 0);
  for (let times = 0; times < 3; times += 1) family.put({ pool: 'write', reason: 'closed' }, 2);
  family.put({ pool: 'write', reason: 'reset' }, 1);
  const expected = ['closed_total{pool="write",reason="reset"} 1', 'closed_total{pool="write",reason="closed"} 6'];
  expect(await samplesOf(registry)).toEqual(expected);
  expect(await samplesOf(registry)).toEqual(expected);
});

test('labels whose values are the same words in another place are other series', async () => {
  const registry = new Registry();
  const family = eventFamilyIn(registry, 'seen_total', 'help', ['one', 'other']);
  for (const of of [
    { one: 'a', other: '' },
    { one: '', other: 'a' },
    { one: 'a', other: 'b' },
    { one: 'b', other: 'a' },
  ])
    for (let times = 0; times < 2; times += 1) family.put(of, 1);
  expect((await samplesOf(registry)).map((line) => line.split(' ')[1])).toEqual(['2', '2', '2', '2']);
});

test.each([1, 2, 255, 256, 257, 258, 1000])('a histogram has each of %i values', async (count) => {
  const registry = new Registry();
  const family = eventFamilyIn(registry, 'duration_seconds', 'help', ['pool'], [0.001, 1]);
  family.begin({ pool: 'write' }, 0);
  for (let times = 0; times < count; times += 1) family.put({ pool: 'write' }, times % 2 === 0 ? 0.5 : 500);
  const few = Math.ceil(count / 2);
  expect(await samplesOf(registry)).toEqual([
    `duration_seconds_bucket{le="0.001",pool="write"} ${few}`,
    `duration_seconds_bucket{le="1",pool="write"} ${count}`,
    `duration_seconds_bucket{le="+Inf",pool="write"} ${count}`,
    expect.stringMatching(/^duration_seconds_sum\{pool="write"\} [\d.]+$/),
    `duration_seconds_count{pool="write"} ${count}`,
  ]);
});

test('values that wait for a member that leaves are gone, and those after its return count alone', async () => {
  const registry = new Registry();
  const family = eventFamilyIn(registry, 'dials_total', 'help', ['member']);
  for (const member of ['pg-1', 'pg-2']) for (let times = 0; times < 5; times += 1) family.put({ member }, 1);
  family.retain(new Set(['pg-2']));
  expect(await samplesOf(registry)).toEqual(['dials_total{member="pg-2"} 5']);
  family.put({ member: 'pg-1' }, 1);
  expect(await samplesOf(registry)).toEqual(['dials_total{member="pg-2"} 5', 'dials_total{member="pg-1"} 1']);
});

test('a gauge has its last value at once, and leaves with its member', async () => {
  const registry = new Registry();
  const family = eventFamilyIn(registry, 'failing', 'help', ['member']);
  for (const value of [1, 1, 0]) family.put({ member: 'pg-1' }, value);
  expect(await samplesOf(registry)).toEqual(['failing{member="pg-1"} 0']);
  family.retain(new Set());
  expect(await samplesOf(registry)).toEqual([]);
});

test.each([
  ['closed_total', undefined],
  ['duration_seconds', [1]],
] as const)('a value of %s that is not finite is refused when it comes', async (name, buckets) => {
  const registry = new Registry();
  const family = eventFamilyIn(registry, name, 'help', ['pool'], buckets);
  family.put({ pool: 'write' }, 1);
  expect(() => family.put({ pool: 'write' }, Infinity)).toThrow(TypeError);
  family.put({ pool: 'write' }, 1);
  expect((await samplesOf(registry)).join('\n')).toMatch(/\{pool="write"\} 2$/);
});
