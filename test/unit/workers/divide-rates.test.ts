// The policy of one worker: rates are divided, limits are whole, and what only the main process needs is left out.
import { expect, test } from 'vitest';
import { divideRates } from '../../../src/workers/divide-rates.ts';
import { configOf, load } from '../../support/values/loading.ts';

const MOVES = 'moves: { roles: [app], concurrent: 8, per_second: 200 }';

test('rates are divided by the number of workers, limits on numbers are not', () => {
  const config = configOf(load('client: { max_disconnects_per_second: 50 }\nhold: { max_connects_per_second: 200 }'));
  const divided = divideRates(config, 4);
  expect(divided.client).toEqual({ ...config.client, maxDisconnectsPerSecond: 12.5 });
  expect(divided.hold).toMatchObject({ maxConnectsPerSecond: 50, maxSessions: config.hold.maxSessions });
  expect(divided.moves).toBeUndefined();
});

test.each([
  { processes: 1, concurrent: 8, perSecond: 200, questions: 16 },
  { processes: 3, concurrent: 2, perSecond: 200 / 3, questions: 5 },
  { processes: 4, concurrent: 2, perSecond: 50, questions: 4 },
  { processes: 32, concurrent: 1, perSecond: 6.25, questions: 1 },
])('$processes workers: each has $concurrent logins of moves and $questions questions at a time', (divided) => {
  const { processes, ...limits } = divided;
  const config = configOf(load(MOVES));
  expect(divideRates(config, processes).moves).toEqual({ ...config.moves, ...limits });
});

test('a worker has nothing of the configuration beyond its policy', () => {
  const divided = divideRates(configOf(load(MOVES)), 2);
  for (const key of ['cluster', 'admin', 'platform', 'file', 'log']) expect(divided).not.toHaveProperty(key);
});
