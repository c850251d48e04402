// The description of the admin API. deploy/admin-api.openapi.json and deploy/admin-api.md are made from the program;
// `vitest run --config test/vitest.config.ts test/unit/admin/openapi.test.ts -u` writes them.
import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { endpointsOf } from '../../../src/admin/endpoints/endpoints.ts';
import { DESCRIBED, SCHEMAS } from '../../../src/admin/openapi/answers.ts';
import { openApiDocument } from '../../../src/admin/openapi/openapi-document.ts';
import manifest from '../../../package.json' with { type: 'json' };
import { adminApiTables } from '../../support/documents/admin-api-tables.ts';
import { adminOptions } from '../../support/fakes/admin-options.ts';

const ROOT = new URL('../../../', import.meta.url);
const ENDPOINTS = endpointsOf(adminOptions());
const DOCUMENT = openApiDocument(ENDPOINTS, manifest.version);

test('every endpoint has a description, and every description an endpoint', () => {
  expect(Object.keys(DESCRIBED).toSorted()).toEqual(
    ENDPOINTS.map(({ method, path }) => `${method} ${path}`).toSorted(),
  );
});

test('every schema is the answer of some endpoint', () => {
  const used = Object.values(DESCRIBED).flatMap(({ answers }) => Object.values(answers).flat());
  expect(Object.keys(SCHEMAS).filter((name) => !used.some((one) => one === name))).toEqual([]);
});

test('ids are unique, parameters of a path are declared, and operations need the token', () => {
  const paths = Object.entries(Object(DOCUMENT['paths'])).flatMap(([path, methods]) =>
    Object.entries(Object(methods)).map(([method, operation]) => ({ path, method, operation: Object(operation) })),
  );
  expect(new Set(paths.map(({ operation }) => operation.operationId)).size).toBe(ENDPOINTS.length);
  for (const { path, method, operation } of paths) {
    const declared = (operation.parameters ?? []).map((one: { name: string }) => one.name);
    for (const [, name] of path.matchAll(/\{(\w+)\}/g)) expect(declared).toContain(name);
    if (method === 'post') expect(operation).toMatchObject({ security: [{ token: [] }], requestBody: {} });
  }
});

test('every reference leads to a schema with api_version', () => {
  const schemas = Object(Object(DOCUMENT['components']).schemas);
  const references = [...JSON.stringify(DOCUMENT).matchAll(/#\/components\/schemas\/(\w+)/g)].map(
    ([, name = '']) => name,
  );
  expect(references.length).toBeGreaterThan(20);
  for (const name of references) expect(JSON.stringify(schemas[name])).toContain('"api_version":{"const":1}');
});

test('deploy/admin-api.openapi.json', async () => {
  await expect(`${JSON.stringify(DOCUMENT, null, 2)}\n`).toMatchFileSnapshot('../../../deploy/admin-api.openapi.json');
});

test('deploy/admin-api.md lists every endpoint', async () => {
  const file = new URL('../../../deploy/admin-api.md', import.meta.url);
  const [start, end] = ['<!-- endpoints -->\n', '<!-- end of endpoints -->\n'];
  const page = readFileSync(file, 'utf8');
  const [before = '', rest = ''] = page.split(start);
  const [, after = ''] = rest.split(end);
  const wanted = `${before}${start}\n${adminApiTables(ENDPOINTS)}\n${end}${after}`;
  await expect(wanted).toMatchFileSnapshot('../../../deploy/admin-api.md');
});

test('a running Pointsman does not load the schemas of answers: all but the description import types alone', () => {
  const files = globSync('src/{admin,app,cluster,console}/**/*.ts', { cwd: ROOT }).filter(
    (file) => !file.startsWith('src/admin/openapi/'),
  );
  const loading = /^import (?!type)[^;]*'[^']*(?:documents|openapi)\/[\w-]+\.ts'/m;
  expect(files.length).toBeGreaterThan(30);
  expect(files.filter((file) => loading.test(readFileSync(new URL(file, ROOT), 'utf8')))).toEqual([]);
});
