// Reading the documents of other versions: what passes, what is absent, and what is not understood.
import { describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { byName, count, list, time } from '../../../src/documents/document-parts.ts';
import { looseReader } from '../../../src/documents/loose-reader.ts';

const route = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('open'), members: list(z.strictObject({ name: z.string(), weight: z.number() })) }),
  z.strictObject({ kind: z.enum(['hold', 'closed']), cause: z.string() }),
]);
const contract = z.strictObject({
  name: z.string(),
  mode: z.enum(['drain', 'move']),
  since: time,
  lag: count.nullable(),
  notices: list(z.string()),
  sessions: byName(count),
  extra: z.strictObject({ deep: z.string(), other: z.string() }).exactOptional(),
  route,
});
const WHOLE = {
  name: 'n',
  mode: 'drain',
  since: '2026-11-22T12:00:00.000Z',
  lag: 1,
  notices: ['a'],
  sessions: { a: 1 },
  extra: { deep: 'd', other: 'o' },
  route: { kind: 'open', members: [{ name: 'm', weight: 1 }] },
};
const NEEDED = { name: 'n', route: { kind: 'hold', cause: 'c' } };

describe('a reader that needs everything', () => {
  const reader = looseReader(contract);

  test('takes the document of this version as it is', () => {
    expect(reader.parse(WHOLE)).toEqual(WHOLE);
  });

  test('takes a later version: fields, values and limits that this one does not know', () => {
    const later = {
      ...WHOLE,
      mode: 'freeze',
      since: 'later',
      lag: -0.5,
      added: { x: 1 },
      extra: { ...WHOLE.extra, added: 1 },
    };
    expect(reader.parse(later)).toEqual(later);
  });

  test('reads null where the contract knows it, and misses everything else', () => {
    const { lag: _, ...without } = WHOLE;
    expect(reader.parse(without)).toEqual({ ...WHOLE, lag: null });
    for (const name of ['name', 'mode', 'since', 'notices', 'sessions', 'route'])
      expect(reader.safeParse({ ...WHOLE, [name]: undefined }).success).toBe(false);
    expect(reader.safeParse({ ...WHOLE, extra: { deep: 'd' } }).success).toBe(false);
    expect(reader.safeParse({ ...WHOLE, name: 1 }).success).toBe(false);
  });
});

test('a reader may drop the unknown fields of the answer itself', () => {
  const reader = looseReader(contract, { dropsUnknown: true });
  const extra = { ...WHOLE.extra, added: 1 };
  expect(reader.parse({ ...WHOLE, added: 1, extra })).toEqual({ ...WHOLE, extra });
});

describe('a reader that needs some fields', () => {
  const reader = looseReader(contract, { needed: ['name', 'route', 'cause'] });

  test('takes an earlier version without the others', () => {
    expect(reader.parse(NEEDED)).toEqual({ ...NEEDED, lag: null, notices: [], sessions: {} });
    expect(reader.parse({ ...NEEDED, extra: {}, route: { kind: 'open' } })).toMatchObject({
      extra: {},
      route: { kind: 'open', members: [] },
    });
  });

  test('reads null as absent where the contract has a value', () => {
    const nothing = { mode: null, since: null, notices: null, sessions: null, extra: null };
    expect(reader.parse({ ...NEEDED, ...nothing })).toEqual(reader.parse(NEEDED));
  });

  test.each([
    ['a needed field', { ...NEEDED, name: undefined }],
    ['a needed field inside', { ...NEEDED, route: { kind: 'hold' } }],
    ['an unknown alternative', { ...NEEDED, route: { kind: 'other' } }],
    ['another type', { ...NEEDED, mode: 7 }],
    ['no object', []],
  ])('does not understand %s', (_, body) => {
    expect(reader.safeParse(body).success).toBe(false);
  });

  test('its type says which fields may be absent, and that an enumeration may have grown', () => {
    type Read = z.infer<typeof reader>;
    expectTypeOf<Read['name']>().toEqualTypeOf<string>();
    expectTypeOf<Read['lag']>().toEqualTypeOf<number | null>();
    expectTypeOf<Read['notices']>().toEqualTypeOf<readonly string[]>();
    expectTypeOf<Read['since']>().toEqualTypeOf<string | undefined>();
    expectTypeOf<'freeze'>().toExtend<Read['mode']>();
  });
});
