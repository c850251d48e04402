// The description of the admin API as OpenAPI 3.1, made from the table of endpoints and the schemas of answers. Loaded
// when it is called for.
import { z } from 'zod';
import { API_VERSION } from '../answer.ts';
import type { Access, Endpoint } from '../endpoint.ts';
import { DESCRIBED, SCHEMAS, type AnswerDescription, type SchemaName } from './answers.ts';

type Json = Readonly<Record<string, unknown>>;

const ABOUT = [
  'Every JSON document has api_version. Endpoints with a token take Authorization: Bearer TOKEN.',
  'POST takes content-type application/json; an absent body is an empty object.',
  'All paths but the health checks answer 403 to a foreign Host or Origin.',
].join(' ');

export function openApiDocument(endpoints: readonly Endpoint[], version: string): Json {
  const paths: Record<string, Record<string, Json>> = {};
  for (const endpoint of endpoints) {
    const path = endpoint.path.replaceAll(/[A-Z]+/g, (name) => `{${name.toLowerCase()}}`);
    paths[path] = { ...paths[path], [endpoint.method.toLowerCase()]: operationOf(endpoint) };
  }
  const schemas = Object.entries(SCHEMAS).map(([name, schema]) => [name, versioned(jsonSchema(schema, 'output'))]);
  return {
    openapi: '3.1.0',
    info: { title: 'Pointsman admin API', version, description: ABOUT },
    paths,
    components: {
      schemas: Object.fromEntries(schemas),
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
    },
  };
}

function operationOf({ method, path, access, query, body }: Endpoint): Json {
  const described = DESCRIBED[`${method} ${path}`];
  if (described === undefined) throw new Error(`${method} ${path} has no description`);
  const inPath = [...path.matchAll(/[A-Z]+/g)].map(([name]) =>
    parameter(name.toLowerCase(), 'path', true, { type: 'string' }),
  );
  const parameters = [...inPath, ...queryParameters(query())];
  const needsToken = access === 'operation' || access === 'private';
  return {
    summary: described.summary,
    operationId: idOf(method, path),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(method === 'POST'
      ? { requestBody: { content: { 'application/json': { schema: jsonSchema(body(), 'input') } } } }
      : {}),
    responses: responsesOf(described, access, method),
    ...(needsToken ? { security: [{ token: [] }] } : {}),
  };
}

/** `post_cluster_cancel_switchover` */
function idOf(method: string, path: string): string {
  return `${method}${path}`.toLowerCase().replaceAll(/[^a-z]+/g, '_');
}

function queryParameters(query: z.ZodObject): readonly Json[] {
  const { properties = {}, required = [] } = jsonSchema(query, 'input');
  return Object.entries(Object(properties)).map(([name, schema]) =>
    parameter(name, 'query', Array.isArray(required) && required.includes(name), Object(schema)),
  );
}

function parameter(name: string, place: 'path' | 'query', required: boolean, { description, ...schema }: Json): Json {
  return { name, in: place, required, ...(description === undefined ? {} : { description }), schema };
}

const REFUSALS: Readonly<Record<Access, readonly number[]>> = {
  probe: [],
  read: [400, 403],
  private: [400, 401, 403],
  operation: [400, 401, 403, 413, 415],
};

const MEANINGS: Readonly<Record<number, string>> = {
  200: 'Done.',
  202: 'Accepted; it goes on.',
  400: 'The body, the query or a value does not fit.',
  401: 'The token is missing or wrong.',
  403: 'A foreign Host or Origin, or no token is configured.',
  404: 'There is none of this name.',
  409: 'Not now: another operation runs, or there is nothing to do it to.',
  412: 'The cluster does not meet the precondition.',
  413: 'The body is too long.',
  415: 'The content type is not application/json.',
  502: 'The management API refused the credentials, or answered with something unexpected.',
  503: 'Not available now.',
  504: 'The management API did not answer.',
};

function responsesOf({ answers }: AnswerDescription, access: Access, method: string): Json {
  const shared = REFUSALS[access].map((status): [string, Json] => [String(status), response(status, ['Failure'])]);
  const own = Object.entries(answers).map(([status, schemas]): [string, Json] => [
    status,
    response(Number(status), schemas),
  ]);
  const isStream = method === 'GET' && Object.values(answers).some((names) => names.includes('Events'));
  const all = Object.fromEntries([...shared, ...own]);
  return isStream ? { ...all, 200: withStream(all['200'] ?? {}) } : all;
}

function withStream({ content, ...rest }: Json): Json {
  return { ...rest, content: { 'text/event-stream': { schema: { type: 'string' } }, ...Object(content) } };
}

function response(status: number, schemas: AnswerDescription['answers'][number]): Json {
  const description = MEANINGS[status] ?? '';
  if (typeof schemas === 'string') return { description, content: { [schemas]: { schema: { type: 'string' } } } };
  const references = schemas.map((name: SchemaName) => ({ $ref: `#/components/schemas/${name}` }));
  const [first] = references;
  const schema = first === undefined ? { type: 'object' } : references.length === 1 ? first : { anyOf: references };
  return { description, content: { 'application/json': { schema } } };
}

function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io,
    override: ({ jsonSchema: part }) => {
      delete part.readOnly;
      if (part.maximum === Number.MAX_SAFE_INTEGER) delete part.maximum;
      if (part.format === 'date-time') delete part.pattern;
    },
  });
  return rest;
}

/** Each document begins with the version of the API. */
function versioned(schema: Json): Json {
  const choices = ['anyOf', 'oneOf'].find((key) => key in schema);
  if (choices !== undefined) {
    const list: unknown = schema[choices];
    return { ...schema, [choices]: Array.isArray(list) ? list.map((one: unknown) => versioned(Object(one))) : [] };
  }
  const { properties = {}, required = [], ...rest } = schema;
  // An incident may have the version itself: elsewhere it has none.
  const { api_version: _, ...own } = Object(properties);
  return {
    ...rest,
    properties: { api_version: { const: API_VERSION }, ...own },
    required: ['api_version', ...(Array.isArray(required) ? required : [])],
  };
}
