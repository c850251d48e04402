import { expect, test } from 'vitest';
import { z } from 'zod';
import { entriesOf, required } from '../../../src/branches/api/fields.ts';

const list = entriesOf(z.object({ name: required }));

test('an entry that is none is left out, and the others stay', async () => {
  expect(await list.parseAsync([{ name: 'a' }, { name: '' }, null, { name: 'b' }])).toEqual([
    { name: 'a' },
    { name: 'b' },
  ]);
  expect(await list.parseAsync([])).toEqual([]);
});

test('a list without any entry is another document', async () => {
  expect((await list.safeParseAsync([{ id: 1 }, 'x'])).success).toBe(false);
  expect((await list.safeParseAsync({})).success).toBe(false);
});
