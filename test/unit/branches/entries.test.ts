import { expect, test } from 'vitest';
import { z } from 'zod';
import { entriesOf, required } from '../../../src/branches/api/fields.ts';

const list = entriesOf(z.object({ name: required }));

test('an entry that is none is left out, and the others stay', () => {
  expect(list.parse([{ name: 'a' }, { name: '' }, null, { name: 'b' }])).toEqual([{ name: 'a' }, { name: 'b' }]);
  expect(list.parse([])).toEqual([]);
});

test('a list without any entry is another document', () => {
  expect(list.safeParse([{ id: 1 }, 'x']).success).toBe(false);
  expect(list.safeParse({}).success).toBe(false);
});
