// The schema of the file with all that is said about its keys: description, default, limits, and our own notes.
import { fileJsonSchema, type JsonSchema } from '../schema/file-json-schema.ts';
import { toShape, type Shape } from '../schema/shape.ts';

export type NotedShape = Shape<JsonSchema>;

export const notedShape = toShape(fileJsonSchema);
