import { expect, test } from 'vitest';
import { Admission } from '../../../src/proxy/admission.ts';

test('sessions up to the cap, then a bounded number of visitors, then nobody', () => {
  const admission = new Admission(2);
  const seats = Array.from({ length: 2 + 256 + 1 }, () => admission.admit());
  expect([seats[0], seats[1], seats[2], seats[257], seats[258]]).toEqual([
    'session',
    'session',
    'visitor',
    'visitor',
    'none',
  ]);
});

test('who leaves makes room for its own kind', () => {
  const admission = new Admission(1);
  admission.admit();
  admission.leave(admission.admit());
  expect(admission.admit()).toBe('visitor');
  admission.leave('session');
  expect(admission.admit()).toBe('session');
  admission.leave('none');
  expect(admission.admit()).toBe('visitor');
});

test('a cancel request gives its slot back', () => {
  const admission = new Admission(1);
  expect(admission.becomeVisitor(admission.admit())).toBe('visitor');
  expect(admission.admit()).toBe('session');
  expect(admission.becomeVisitor('visitor')).toBe('visitor');
});
