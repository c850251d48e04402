// Titles and times of the view of an incident.
import { expect, test } from 'vitest';
import { clockText, findingTitle, interruptionsIn, stateText } from '../../../../src/page/incident/words.ts';
import { anIncident } from '../../../support/values/incidents.ts';
import { AN_OUTAGE } from '../../../support/values/an-outage.ts';

test('a finding of one of several interruptions has its number', () => {
  const [first] = AN_OUTAGE.findings;
  if (first?.finding !== 'no_route') throw new Error('no finding');
  expect(interruptionsIn(AN_OUTAGE.findings)).toBe(1);
  expect(findingTitle(first, 1)).toBe('No route');
  const again = [...AN_OUTAGE.findings, { ...first, interruption: 2 }];
  expect(interruptionsIn(again)).toBe(2);
  expect(again.map((one) => findingTitle(one, 2))).toEqual([
    'No route (1 of 2)',
    'Decision (1 of 2)',
    'Next primary (1 of 2)',
    'Timelines',
    'Sessions cut',
    'Clients that waited',
    'No route (2 of 2)',
  ]);
});

test('times', () => {
  expect(clockText(AN_OUTAGE.opened_at)).toBe('14:00:00.000');
});

test('the state with its length', () => {
  expect(stateText(anIncident())).toBe('settled after 60 s');
  expect(stateText(anIncident({ state: 'open', settled_at: null }))).toBe('open');
});
