// The section platform: its values, its defaults, and the message for each mistake.
import { expect, test } from 'vitest';
import { reconfigured } from '../../../../src/config/changes.ts';
import { effectiveYaml } from '../../../../src/config/reference/effective.ts';
import { SEEDS, configOf, load, problemsOf, warningsOf } from '../../../support/values/loading.ts';

const LEAST = 'url: "https://platform.internal/", api_key_file: /run/secrets/platform, beta_header: vendor-beta';

test('without the section there is no platform', () => {
  expect(configOf(load('')).platform).toBeUndefined();
});

test('the defaults', () => {
  expect(configOf(load(`platform: { ${LEAST} }`)).platform).toEqual({
    url: 'https://platform.internal',
    apiKeyFile: '/run/secrets/platform',
    authHeader: 'x-api-key',
    headers: {},
    betaHeader: 'vendor-beta',
    skills: { dialect: 'general', filesField: 'files[]', extraFields: {} },
    files: { field: 'file', extraFields: {} },
  });
});

test('every key, by the environment in part', () => {
  const text = `platform: { ${LEAST}, auth_header: authorization, headers: { x-version: "2026-01-01" },
    skills: { files_field: "parts[]", extra_fields: { display_title: Runbook } },
    files: { extra_fields: { purpose: incident } } }`;
  const env = { ...SEEDS, POINTSMAN_PLATFORM_SKILLS_DIALECT: 'beta', POINTSMAN_PLATFORM_FILES_FIELD: 'upload' };
  expect(configOf(load(text, env)).platform).toEqual({
    url: 'https://platform.internal',
    apiKeyFile: '/run/secrets/platform',
    authHeader: 'authorization',
    headers: { 'x-version': '2026-01-01' },
    betaHeader: 'vendor-beta',
    skills: { dialect: 'beta', filesField: 'parts[]', extraFields: { display_title: 'Runbook' } },
    files: { field: 'upload', extraFields: { purpose: 'incident' } },
  });
});

test.each([
  ['api_key_file: /k, beta_header: b', 'platform.url: is missing: expected a URL'],
  ['url: https://p, beta_header: b', 'platform.api_key_file: is missing: expected text'],
  ['url: https://p, api_key_file: /k', 'platform.beta_header: is missing: expected the name of a header'],
  ['url: https://p/v1, api_key_file: /k, beta_header: b', 'ends with /v1: leave that out'],
  [`${LEAST}, auth_header: "x key"`, 'platform.auth_header: expected the name of a header'],
  [`${LEAST}, headers: { x-version: "a\\nb" }`, 'platform.headers.x-version: expected the value of a header'],
  [`${LEAST}, headers: { Content-Type: text/plain }`, 'Content-Type is a header that Pointsman sets itself'],
  [`${LEAST}, headers: { X-API-Key: abc }`, 'X-API-Key is there twice: name each header once'],
  [`${LEAST}, auth_header: vendor-beta`, 'vendor-beta is there twice'],
  [`${LEAST}, skills: { dialect: epoch }`, 'platform.skills.dialect: expected general or beta'],
  [`${LEAST}, skills: { files_field: 'a"b' }`, 'platform.skills.files_field: expected the name of a form field'],
  [`${LEAST}, files: { extra_fields: { ttl: 3 } }`, 'platform.files.extra_fields.ttl: expected text, in quotes'],
  [`${LEAST}, api_key: abc`, 'platform.api_key: unknown key: known here are url, api_key_file'],
])('{ %s }', (text, expected) => {
  const problems = problemsOf(load(`platform: { ${text} }`));
  expect(problems.join('\n')).toContain(expected);
  expect(problems).toHaveLength(1);
});

test('a key in plain text over the network is a warning, over loopback it is none', () => {
  const remote = load('platform: { url: http://platform.internal, api_key_file: /k, beta_header: b }');
  expect(remote.kind).toBe('ok');
  expect(warningsOf(remote)).toContain('platform.url: http sends the API key in plain text');
  expect(warningsOf(load('platform: { url: http://127.0.0.1:9, api_key_file: /no-such-file, beta_header: b }'))).toBe(
    '',
  );
});

test('the printed configuration loads and means the same', () => {
  const text = `platform: { ${LEAST}, headers: { x-version: "2026-01-01" }, files: { extra_fields: { "a b": "c" } } }`;
  const config = configOf(load(text));
  expect(configOf(load(effectiveYaml(config), {})).platform).toEqual(config.platform);
});

test('a reload takes the section over', () => {
  const [without, after] = [configOf(load('')), configOf(load(`platform: { ${LEAST} }`))];
  expect(reconfigured(without, after)).toMatchObject({ config: { platform: after.platform }, needsRestart: [] });
});
