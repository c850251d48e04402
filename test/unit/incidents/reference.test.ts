// deploy/incidents.md and deploy/incident.schema.json describe the document of an incident. This test makes both from
// its schema; `vitest run --config test/vitest.config.ts test/unit/incidents/reference.test.ts -u` writes them.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { incidentDocument } from '../../../src/incidents/schema.ts';

const schema = z.toJSONSchema(incidentDocument);

test('deploy/incident.schema.json is the schema of the document', async () => {
  const text = `${JSON.stringify({ title: 'Incident of Pointsman', ...schema }, undefined, 2)}\n`;
  await expect(text).toMatchFileSnapshot('../../../deploy/incident.schema.json');
});

type Json = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function objects(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Null as a possible value is said beside the type. */
function typeOf(node: Json): string {
  if (node['const'] !== undefined) return `\`${JSON.stringify(node['const']).replaceAll('"', '')}\``;
  if (Array.isArray(node['enum'])) return node['enum'].map((value) => `\`${String(value)}\``).join(', ');
  const options = [...objects(node['anyOf']), ...objects(node['oneOf'])];
  if (options.length > 0) return options.map(typeOf).join(' or ');
  if (node['type'] === 'array') return `list of ${isObject(node['items']) ? typeOf(node['items']) : 'values'}`;
  const type = node['type'] ?? 'value';
  return Array.isArray(type) ? type.join(' or ') : JSON.stringify(type).replaceAll('"', '');
}

function aboutOf(node: Json): string {
  return typeof node['description'] === 'string' ? node['description'] : '';
}

function row(name: string, node: Json): string {
  const about = aboutOf(node);
  return `| \`${name}\` | ${typeOf(node)} | ${about.replaceAll('|', '\\|')} |`;
}

/** Each field, and below it those of the object that it holds. */
function rows(node: Json, prefix = ''): readonly string[] {
  const properties = isObject(node['properties']) ? node['properties'] : {};
  return Object.entries(properties).flatMap(([name, value]) => {
    if (!isObject(value)) return [];
    const inner = [value, ...objects(value['anyOf'])].map((one) => (isObject(one['items']) ? one['items'] : one));
    const isList = value['type'] === 'array';
    return [
      row(`${prefix}${name}`, value),
      ...inner
        .filter((one) => isObject(one['properties']))
        .flatMap((one) => rows(one, `${prefix}${name}${isList ? '[]' : ''}.`)),
    ];
  });
}

function table(node: Json): string {
  return ['| Field | Value | Meaning |', '| --- | --- | --- |', ...rows(node)].join('\n');
}

function findings(): string {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const list = properties['findings'];
  const items = isObject(list) && isObject(list['items']) ? list['items'] : {};
  return objects(items['oneOf'])
    .map((one) => {
      const own = isObject(one['properties']) ? one['properties'] : {};
      const name = isObject(own['finding']) ? String(own['finding']['const']) : '';
      return `### \`${name}\`\n\n${aboutOf(one)}\n\n${table(one)}\n`;
    })
    .join('\n');
}

test('deploy/incidents.md describes the document', async () => {
  const introduction = readFileSync(new URL('incidents-introduction.md', import.meta.url), 'utf8');
  const page = `${introduction}
## The document

${table(schema)}

## Findings

Every finding has \`event_ids\`: the events that it rests on. Each of them is in \`events\`.

${findings()}`;
  await expect(page).toMatchFileSnapshot('../../../deploy/incidents.md');
});
