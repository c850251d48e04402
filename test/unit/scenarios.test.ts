// The list of scenarios and guarantees agrees with the titles of the tests. Every entry has a title, on Patroni if the
// list requires that. No title names a missing entry.
import { expect, test } from 'vitest';
import { GUARANTEES, NOT_YET, SCENARIOS } from '../support/runner/scenarios.ts';
import { misnamed, namingTitles, switchedOff, titlesIn } from '../support/runner/test-titles.ts';

const TITLES = namingTitles();

test('every scenario and guarantee is in a title, except those in NOT_YET', () => {
  const scenarios = new Set(TITLES.flatMap((title) => title.scenarios));
  const guarantees = new Set(TITLES.flatMap((title) => title.guarantees));
  const missing = [
    ...[...SCENARIOS].flatMap(([number, { isLater }]) =>
      isLater || scenarios.has(number) ? [] : [`scenario ${number}`],
    ),
    ...[...GUARANTEES].flatMap(([number, { isLater }]) => (isLater || guarantees.has(number) ? [] : [`G${number}`])),
  ];
  const seen = new Set(TITLES.flatMap((title) => (title.runsOnPatroni ? title.scenarios : [])));
  const unseen = [...SCENARIOS].flatMap(([number, { onPatroni }]) =>
    onPatroni && !seen.has(number) ? [`scenario ${number} on Patroni`] : [],
  );
  expect([...missing, ...unseen]).toEqual(NOT_YET);
});

test('no test names a scenario or guarantee that does not exist', () => {
  const unknown = TITLES.filter(
    ({ scenarios, guarantees }) =>
      !scenarios.every((number) => SCENARIOS.has(number)) || !guarantees.every((number) => GUARANTEES.has(number)),
  );
  expect(unknown).toEqual([]);
});

test('titles name them in one way, and no test is switched off', () => {
  expect(misnamed()).toEqual([]);
  expect(switchedOff()).toEqual([]);
});

test('the list itself is complete', () => {
  expect([...SCENARIOS.keys()]).toEqual(Array.from({ length: 48 }, (_, index) => index + 1));
  expect([...GUARANTEES.keys()]).toEqual(Array.from({ length: 26 }, (_, index) => index + 1));
});

const SAMPLE = [
  '// scenario 5: a comment names nothing',
  "describeOnEveryCluster('a block', () => {",
  "  it('scenarios 10, 11: a title', run);",
  '});',
  '',
  'test(',
  "  'scenario 14, G20: after the block',",
  '  run,',
  ');',
  "test.each([1])('G4: of %i', run);",
  "const text = 'of scenario 9: no title';",
].join('\n');

test('titles are found with their numbers and their clusters', () => {
  expect(titlesIn('a.test.ts', SAMPLE)).toMatchObject([
    { scenarios: [10, 11], guarantees: [], runsOnPatroni: true },
    { scenarios: [14], guarantees: [20], runsOnPatroni: false },
    { scenarios: [], guarantees: [4], runsOnPatroni: false },
  ]);
});
