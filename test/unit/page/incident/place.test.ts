// The fragment of the address: each link leads back to its place, and a broken fragment to none.
import { expect, test } from 'vitest';
import { eventHref, incidentHref, placeOf } from '../../../../src/page/incident/place.ts';

test('links lead to their places', () => {
  expect(placeOf(incidentHref('2026-11-22-1'))).toEqual({ incident: '2026-11-22-1', event: undefined });
  expect(placeOf(eventHref('2026-11-22-1', 'r1-7'))).toEqual({ incident: '2026-11-22-1', event: 'r1-7' });
  expect(placeOf(incidentHref('a/b'))).toEqual({ incident: 'a/b', event: undefined });
});

test.each(['', '#', '#incident/', '#incident/a/b/c', '#incident/%', '#other'])('"%s" is no place', (fragment) => {
  expect(placeOf(fragment)).toBeUndefined();
});
