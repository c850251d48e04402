// The outline of the file's schema: keys and kinds, without descriptions. A program that runs needs no more, and one
// that parsed the whole took 3 ms more to start. The build makes it, too (`made` in rolldown.config.ts).
import { fileJsonSchema, type JsonSchema } from './file-json-schema.ts';

export type Outline = Pick<
  JsonSchema,
  'type' | 'properties' | 'additionalProperties' | 'items' | 'anyOf' | 'written' | 'needsRestart' | 'isSecret'
>;

export const fileOutline = outlineOf(fileJsonSchema);

function outlineOf(schema: JsonSchema): Outline {
  const { type, properties, additionalProperties, items, anyOf, written, needsRestart, isSecret } = schema;
  const entries = Object.entries(properties ?? {});
  return {
    ...(type !== undefined && { type }),
    ...(properties && { properties: Object.fromEntries(entries.map(([key, one]) => [key, below(one)])) }),
    ...(additionalProperties !== undefined && { additionalProperties: below(additionalProperties) }),
    ...(items !== undefined && !Array.isArray(items) && { items: below(items) }),
    ...(anyOf && { anyOf: anyOf.map(outlineOf) }),
    ...(written !== undefined && { written }),
    ...(needsRestart && { needsRestart }),
    ...(isSecret && { isSecret }),
  };
}

function below(schema: boolean | JsonSchema): boolean | Outline {
  return typeof schema === 'object' ? outlineOf(schema) : schema;
}
