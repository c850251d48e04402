// Field readers that all documents share. A field that is missing, null or of the wrong type becomes undefined, or a
// word that means "present, but invalid". No reader throws, and every text has a limit.
import { isRecord } from '../model/json.ts';
import { z } from 'zod';
import { shown } from '../model/printable.ts';

/** Text that is only shown. */
export const line = z.string().transform(shown);

/** Text that is compared: kept exactly, unless empty or too long. Sentences show it with `shown`. */
export const identifier = z.string().min(1).max(256);

/** Patroni sends numbers. Other servers and old versions send digits in a string. */
export const amount = z
  .union([
    z.number(),
    z
      .string()
      .regex(/^\d{1,16}$/)
      .transform(Number),
  ])
  .pipe(z.number().nonnegative());

export const integer = amount.pipe(z.int());

/** PostgreSQL keeps a timeline in 32 bits. */
const HIGHEST_TIMELINE = 2 ** 32 - 1;

/** Timelines start at 1. Patroni sends null or 0 while the timeline is unknown. */
export const timeline = integer.pipe(z.int().positive().max(HIGHEST_TIMELINE));

/** 0 while the member does not know its timeline. */
export const timelineOrZero = z.union([timeline, integer.pipe(z.literal(0))]);

export const port = integer.pipe(z.int().min(1).max(65535));

/** The field when it is valid, else undefined. */
export function maybe<T extends z.ZodType>(field: T): z.ZodCatch<z.ZodOptional<T>> {
  return field.optional().catch(undefined);
}

/** Any value, or none. */
export const anything = z.unknown().optional();

/** The field; undefined when missing or null; `word` when invalid. */
export function orWord<T, const W extends string>(field: z.ZodType<T>, word: W): z.ZodType<T | W | undefined> {
  return anything.transform((value): T | W | undefined => {
    if (value === undefined || value === null) return undefined;
    const parsed = field.safeParse(value);
    return parsed.success ? parsed.data : word;
  });
}

/** Python's truth value, for flags whose type the API does not fix. Undefined when absent or null. */
export const flag = anything.transform((value) =>
  value === undefined || value === null ? undefined : isTruthyInPython(value),
);

/** Its presence is the message, whatever its value. Old versions of Patroni send false for "no". */
export const indicator = anything.transform((value) =>
  value === undefined || value === null ? undefined : value !== false,
);

/** Python's `bool(value)`: the string "false" is true, an empty list is false. */
export function isTruthyInPython(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (isRecord(value)) return Object.keys(value).length > 0;
  return Boolean(value);
}

type PresentFields<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** The same object without the keys that hold undefined. */
export function present<T extends object>(fields: T): PresentFields<T> {
  const kept = Object.entries(fields).filter(([, value]) => value !== undefined);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- fromEntries loses the types
  return Object.fromEntries(kept) as PresentFields<T>;
}
