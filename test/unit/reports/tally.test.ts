import { expect, test } from 'vitest';
import { NO_TALLY, sumOfTallies } from '../../../src/reports/tally.ts';
import type { Tally } from '../../../src/reports/tally.ts';

const one: Tally = {
  sessions: 3,
  starting: 1,
  held: 2,
  byAddress: new Map([
    ['10.0.0.1', 2],
    ['10.0.0.2', 1],
  ]),
  pools: new Map([['read', { fallback: 1, lagging: 0, members: new Map([['pg-2', 4]]) }]]),
};
const other: Tally = {
  sessions: 4,
  starting: 0,
  held: 1,
  byAddress: new Map([['10.0.0.1', 4]]),
  pools: new Map([
    [
      'read',
      {
        fallback: 2,
        lagging: 5,
        members: new Map([
          ['pg-2', 1],
          ['pg-3', 7],
        ]),
      },
    ],
    ['write', { fallback: 0, lagging: 0, members: new Map([['pg-1', 1]]) }],
  ]),
};

test('sums key by key, also for keys of one side only', () => {
  expect(sumOfTallies([one, other])).toEqual({
    sessions: 7,
    starting: 1,
    held: 3,
    byAddress: new Map([
      ['10.0.0.1', 6],
      ['10.0.0.2', 1],
    ]),
    pools: new Map([
      [
        'read',
        {
          fallback: 3,
          lagging: 5,
          members: new Map([
            ['pg-2', 5],
            ['pg-3', 7],
          ]),
        },
      ],
      ['write', { fallback: 0, lagging: 0, members: new Map([['pg-1', 1]]) }],
    ]),
  });
});

test('the sum of none is empty, and one alone stays itself', () => {
  expect(sumOfTallies([])).toEqual(NO_TALLY);
  expect(sumOfTallies([one])).toEqual(one);
});
