// The file of an operator: YAML with its curiosities, and every rule behind it.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { effectiveYaml } from '../../../src/config/reference/effective.ts';
import { loadConfig, type LoadResult } from '../../../src/config/load.ts';
import { readYamlLoosely } from '../../../src/config/source/yaml-text.ts';
import { textOf, type FuzzTarget } from '../target.ts';

const load = (text: string, env = {}): LoadResult => loadConfig({ file: 'pointsman.yaml', env, readFile: () => text });

/** The library takes the cube of the depth. It is the operator's file, so no limit of ours is needed. */
const DEEP = /(?:[[{]\s*){50}/;

function check(input: Uint8Array): void {
  const text = textOf(input);
  if (DEEP.test(text)) return;
  const loaded = load(text);
  load(text, {
    POINTSMAN_LOG_LEVEL: 'debug',
    POINTSMAN_POOLS_READ_CHECK: text.slice(0, 40),
    POINTSMAN_CLUSTER_SEEDS: 'a,b',
  });
  readYamlLoosely(text);
  if (loaded.kind === 'invalid') {
    assert(loaded.problems.length > 0);
    for (const { message } of loaded.problems) assert(message.length > 5, message);
    return;
  }
  // The values in effect, written as a file, are in effect again.
  const { config } = loaded;
  if (config.admin.token !== undefined) return;
  const again = load(effectiveYaml(config));
  assert(again.kind === 'ok', again.kind === 'invalid' ? JSON.stringify(again.problems) : '');
  assert.deepEqual(again.config.file, config.file);
}

const MINIMAL = 'cluster:\n  seeds: [http://10.0.0.1:8008]\n';
const example = readFileSync(new URL('../../../config/example.yaml', import.meta.url));

export const configuration: FuzzTarget = {
  name: 'configuration',
  covers: ['config/', 'model/check', 'model/wildcard'],
  seeds: [
    Buffer.from(MINIMAL),
    Buffer.from(`x-a: &a {check: "/replica?lag=16MB"}\n${MINIMAL}pools:\n  read:\n    <<: *a\n    fallback: write\n`),
    Buffer.from(
      `${MINIMAL}pools: {w: {check: /primary}, r: {check: /replica}}\nlisteners: [{address: "[::1]:0", pool: r}]\n`,
    ),
    Buffer.from(
      `${MINIMAL}client: {tls: {cert: /a, key: /b, mode: require}, startup_timeout: 5s}\nbackend: {tls: {ca: /c}}\n`,
    ),
    Buffer.from(
      `${MINIMAL}moves: {roles: [app], mode: always}\nprobe: {interval: 1s, timeout: 500ms}\nhold: {timeout: 0s}\n`,
    ),
    Buffer.from(
      `${MINIMAL}admin: {address: "127.0.0.1:9187", allowed_hosts: ["*"]}\nlog: {level: debug}\nworkers: auto\n`,
    ),
    example,
  ],
  words: [
    '&a ',
    '*a',
    '<<: ',
    '!!binary ',
    '!!set ',
    '!!timestamp ',
    '!x ',
    '? ',
    ': ',
    '- ',
    '---\n',
    '...\n',
    '%YAML 1.1\n',
    '\t',
    '|\n',
    '>-\n',
    "'",
    '"',
    '{',
    '}',
    '[',
    ']',
    'null',
    '~',
    '.nan',
    '.inf',
    '0x10',
    '0o17',
    '1e400',
    '1_000',
    '__proto__: ',
    'constructor: ',
    'toString: ',
    'x-a: ',
    'pools:\n',
    '  write:\n',
    '    check: ',
    'listeners:\n',
    'cluster:\n',
    '  seeds: ',
    'true',
    'yes',
    '5s',
    '1h',
    '10ms',
    '16MB',
    '::1',
    '127.0.0.1:5432',
    'http://u:p@h:1/',
    'https://[::1]:8008',
    '/replica?lag=1MB',
    '\u0000',
    '\xef\xbb\xbf',
    '\xed\xa0\x80',
    '[[[[[[[[',
    '{a: {a: {a: ',
    '\r\n',
    'none',
    ...[...example.toString().matchAll(/^#? *([a-z_]+):/gm)].map(([, key = '']) => `${key}: `),
  ],
  costs: 20,
  check,
};
