// Readers of the fields of both APIs. The contract names a few fields and leaves the rest open: fields that it does
// not name are ignored, and an optional field of another type counts as absent.
import { z } from 'zod';
import { parseLsn } from '../../model/lsn.ts';
import { ENTRIES, inTurns } from '../in-turns.ts';

/** An identifier or a name: compared exactly. An entry without it is ignored. */
export const required = z.string().min(1).max(256);

export const optional = required.optional().catch(undefined);

/** `<hex>/<hex>`. */
export const optionalLsn = z
  .string()
  .refine((text) => parseLsn(text) !== undefined)
  .optional()
  .catch(undefined);

/**
 * Leaves out what cannot be read, because the other entries can. A list without any entry is another document. To be
 * parsed asynchronously: a long list takes several turns.
 */
export function entriesOf<Entry>(entry: z.ZodType<Entry>): z.ZodType<readonly Entry[]> {
  return z.array(z.unknown()).transform(async (all, context) => {
    const found = await inTurns(readable(all, entry));
    if (found.length > 0 || all.length === 0) return found;
    context.addIssue({ code: 'custom', message: 'no entry can be read' });
    return z.NEVER;
  });
}

function* readable<Entry>(all: readonly unknown[], entry: z.ZodType<Entry>): Generator<void, readonly Entry[]> {
  const found: Entry[] = [];
  for (const [at, one] of all.entries()) {
    const { data } = entry.safeParse(one);
    if (data !== undefined) found.push(data);
    if (at % ENTRIES === 0) yield;
  }
  return found;
}
