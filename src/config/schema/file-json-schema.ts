// The schema of the file as JSON Schema. To make it takes 25 ms, a tenth of a start. So the build makes it, and puts it
// in place of this module (`made` in rolldown.config.ts).
import { z } from 'zod';
import { fileSchema } from './file-schema.ts';

export const fileJsonSchema = z.toJSONSchema(fileSchema, { io: 'input' });
