// Notes about a key of the file, or about a kind of value: for the file's schema as JSON Schema. The build makes that,
// so the program that it builds leaves the notes out (`made` in rolldown.config.ts): 300 schemas less at each start.
import type { z } from 'zod';

/** `schema` with these notes. */
export function noted<T extends z.ZodType>(schema: T, notes: z.GlobalMeta): T {
  return schema.meta(notes);
}
