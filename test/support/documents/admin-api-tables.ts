// The tables of deploy/admin-api.md: every endpoint with its input.
import type { z } from 'zod';
import type { Endpoint } from '../../../src/admin/endpoint.ts';
import { DESCRIBED } from '../../../src/admin/openapi/answers.ts';

const GROUPS: readonly (readonly [title: string, isIn: (endpoint: Endpoint) => boolean])[] = [
  ['Health checks', ({ access }) => access === 'probe'],
  ['Documents', ({ access }) => access === 'read' || access === 'private'],
  ['Operations on the cluster', ({ access, path }) => access === 'operation' && path.startsWith('/cluster/')],
  ['Other operations', ({ access, path }) => access === 'operation' && !path.startsWith('/cluster/')],
];

export function adminApiTables(endpoints: readonly Endpoint[]): string {
  return GROUPS.map(([title, isIn]) => {
    const rows = endpoints.filter(isIn).map(rowOf);
    return [`### ${title}\n`, '| Request | Input | What it does |', '|---|---|---|', ...rows, ''].join('\n');
  }).join('\n');
}

function rowOf({ method, path, query, body, access }: Endpoint): string {
  const described = DESCRIBED[`${method} ${path}`];
  const token = access === 'private' ? ' Needs the token.' : '';
  const input = [...namesIn(query(), '?'), ...namesIn(method === 'POST' ? body() : undefined, '')].join(', ');
  return `| \`${method} ${path}\` | ${input} | ${described?.summary ?? ''}${token} |`;
}

/** Fields that may be absent are in italics. */
function namesIn(schema: z.ZodObject | undefined, mark: string): readonly string[] {
  return Object.entries(schema?.shape ?? {}).map(([name, one]) => {
    const text = `\`${mark}${name}\``;
    return one.safeParse(undefined).success ? `*${text}*` : text;
  });
}
