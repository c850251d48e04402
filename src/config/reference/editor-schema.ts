// The JSON Schema by which editors complete and check a configuration file (config/pointsman.schema.json).
import { parse } from 'yaml';
import { fileJsonSchema, type JsonSchema } from '../schema/file-json-schema.ts';
import { DEFAULT_POOLS } from '../schema/defaults.ts';

export function editorSchema(): string {
  const { $schema, properties = {}, ...root } = cleaned(fileJsonSchema);
  const { required: _, ...file } = root;
  const schema = {
    $schema,
    title: 'Configuration of Pointsman',
    ...file,
    properties: { ...properties, pools: withDefaultPools(properties['pools']) },
    patternProperties: { '^x-': { description: 'Ignored: a place for YAML anchors.' } },
  };
  return `${JSON.stringify(schema, undefined, 2)}\n`;
}

/** A pool that exists by itself needs no check. */
function withDefaultPools(pools: unknown): unknown {
  if (typeof pools !== 'object' || pools === null || !('additionalProperties' in pools)) return pools;
  const pool = pools.additionalProperties;
  if (typeof pool !== 'object' || pool === null) return pools;
  const { required: _, ...partial } = { required: undefined, ...pool };
  return { ...pools, properties: Object.fromEntries(DEFAULT_POOLS.map((name) => [name, partial])) };
}

/** Without our notes, and with the words that JSON Schema has for them. */
function cleaned(schema: JsonSchema): JsonSchema {
  const { written: _, atLeast: _a, needsRestart: _n, isSecret: _s, usual, example, description, ...rest } = schema;
  const { properties, propertyNames, items, additionalProperties, anyOf, default: usually } = rest;
  const words = [description, usual === undefined ? undefined : `Default: ${usual}.`].filter(Boolean).join(' ');
  const isEmptySection = typeof usually === 'object' && usually !== null && !Array.isArray(usually);
  const { default: _d, ...withoutDefault } = rest;
  return {
    ...(words === '' ? {} : { description: words }),
    ...(isEmptySection ? withoutDefault : rest),
    ...(example === undefined ? {} : { examples: [parse(example)] }),
    ...(properties && { properties: mapped(properties) }),
    ...(typeof items === 'object' && !Array.isArray(items) ? { items: cleaned(items) } : {}),
    ...(typeof additionalProperties === 'object' ? { additionalProperties: cleaned(additionalProperties) } : {}),
    ...(typeof propertyNames === 'object' ? { propertyNames: cleaned(propertyNames) } : {}),
    ...(anyOf && { anyOf: anyOf.map((one) => (typeof one === 'object' ? cleaned(one) : one)) }),
  };
}

function mapped(properties: Readonly<Record<string, boolean | JsonSchema>>): Record<string, boolean | JsonSchema> {
  const entries = Object.entries(properties);
  return Object.fromEntries(entries.map(([key, one]) => [key, typeof one === 'object' ? cleaned(one) : one]));
}
