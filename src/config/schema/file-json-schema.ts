// The schema of the file as JSON Schema, with all notes. To make it takes 25 ms, a tenth of a start. So the build makes
// it, and puts it in place of this module (`made` in rolldown.config.ts).
import { z } from 'zod';
import { fileSchema } from './file-schema.ts';
import type { KeyNotes } from './key.ts';

/** The part of JSON Schema that the file's schema uses, with our own notes. */
export type JsonSchema = z.core.JSONSchema.BaseSchema &
  KeyNotes & { readonly written?: string; readonly atLeast?: string };

export const fileJsonSchema: JsonSchema = z.toJSONSchema(fileSchema, { io: 'input' });
