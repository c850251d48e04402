// No text makes a reader of `init` throw, and each text gives a file that loads or a sentence about what is wrong.
import { array, assert, boolean, constant, constantFrom, dictionary, integer, oneof, property } from 'fast-check';
import { record, string, tuple } from 'fast-check';
import { expect, test } from 'vitest';
import type { ReadSource } from '../../../src/cli/init/draft.ts';
import { fromConninfo } from '../../../src/cli/init/from-conninfo.ts';
import { fromHaproxy } from '../../../src/cli/init/from-haproxy.ts';
import { fromPatroni } from '../../../src/cli/init/from-patroni.ts';
import { writeDraft } from '../../../src/cli/init/write-draft.ts';

const WORDS = [
  'global defaults listen frontend backend bind server server-template default-server option httpchk GET /primary',
  '/replica?lag=1MB *:5000 [::1]:1 10.0.0.1:5432 check port 8008 check-ssl ca-file verify none maxconn 100',
  'timeout connect 4s balance roundrobin http-check send uri from default_backend use_backend if',
  '" \' \\ # $ ${ } .if -1',
];
const word = oneof(constantFrom(...WORDS.join(' ').split(' ')), string({ maxLength: 8 }));
const line = array(word, { maxLength: 8 }).map((words) => words.join(' '));
const lines = array(line, { maxLength: 25 }).map((all) => all.join('\n'));

const scalar = oneof(
  string({ maxLength: 12 }),
  integer(),
  boolean(),
  constant(null),
  constantFrom('a:1', '0.0.0.0:8008', '[::1]:8008', ':'),
);
const API_KEYS = ['listen', 'connect_address', 'certfile', 'cafile', 'authentication', 'allowlist', 'verify_client'];
const yaml = record(
  {
    scope: scalar,
    name: scalar,
    restapi: oneof(scalar, dictionary(constantFrom(...API_KEYS), scalar)),
    ctl: oneof(scalar, dictionary(constantFrom('cacert', 'certfile', 'keyfile'), scalar)),
  },
  { requiredKeys: [] },
).map((value) => JSON.stringify(value));

const keyword = constantFrom('host', 'port', 'hostaddr', 'password', 'target_session_attrs', 'dbname');
const conninfo = oneof(
  string(),
  string().map((text) => `postgresql://${text}`),
  array(tuple(keyword, string({ maxLength: 10 }))).map((all) => all.map(([key, value]) => `${key}=${value}`).join(' ')),
);

function isSound(result: ReadSource): void {
  const problems = result.kind === 'unusable' ? result.problems : writeDraft(result.draft.settings, '').problems;
  if (result.kind === 'unusable') expect(problems.length).toBeGreaterThan(0);
  for (const problem of problems) expect(problem.length).toBeGreaterThan(10);
}

test('haproxy.cfg', () => {
  assert(property(oneof(lines, string()), (text) => isSound(fromHaproxy({ text, name: 'h', env: {}, apiPort: 8008 }))));
});

test('patroni.yml', () => {
  assert(property(oneof(yaml, string()), (text) => isSound(fromPatroni({ text, name: 'p', apiPort: 8008 }))));
});

test('connection strings', () => {
  assert(property(conninfo, (text) => isSound(fromConninfo(text, 8008))));
});
