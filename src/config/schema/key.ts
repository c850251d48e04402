// A key of the file together with its description. The reference page, the commented example and the schema for editors
// are generated from the descriptions, so a key is explained in one place.
import type { z } from 'zod';
import { noted } from './noted.ts';

export interface KeyNotes {
  /** As it would be written in the file. */
  readonly example?: string;
  /** The default in words, where it depends on other keys. */
  readonly usual?: string;
  /** A reload leaves this key as it is (changes.ts). */
  readonly needsRestart?: true;
  /** No output shows the value. */
  readonly isSecret?: true;
}

/** `schema` with its description. Line breaks in `text` do not count. */
export function key<T extends z.ZodType>(schema: T, text: string, notes: KeyNotes = {}): T {
  return noted(schema, { description: text.replaceAll(/\s+/g, ' ').trim(), ...notes });
}
