// A member's patroni.yml as a file of Pointsman. No password of it is in any output.
import { expect, test } from 'vitest';
import { fromPatroni } from '../../../../src/cli/init/from-patroni.ts';
import { writeDraft } from '../../../../src/cli/init/write-draft.ts';

function convert(text: string): { readonly yaml: string; readonly notes: string } {
  const result = fromPatroni({ text, name: 'patroni.yml', apiPort: 8008 });
  if (result.kind === 'unusable') throw new Error(result.problems.join('\n'));
  const written = writeDraft(result.draft.settings, '');
  if (written.kind === 'invalid') throw new Error(written.problems.join('\n'));
  return {
    yaml: written.text,
    notes: result.draft.notes.map(({ place, text: said }) => `${place}: ${said}`).join('\n'),
  };
}

function problemsOf(text: string): string {
  const result = fromPatroni({ text, name: 'patroni.yml', apiPort: 8008 });
  return result.kind === 'unusable' ? result.problems.join('\n') : '';
}

const FULL = `scope: batman
namespace: /service/
name: pg-1
restapi:
  listen: 0.0.0.0:8008
  connect_address: 10.0.0.11:8008
  certfile: /etc/patroni/server.crt
  keyfile: /etc/patroni/server.key
  cafile: /etc/patroni/ca.crt
  verify_client: required
  authentication:
    username: admin
    password: never-shown
ctl:
  certfile: /etc/patroni/client.crt
  keyfile: /etc/patroni/client.key
postgresql:
  connect_address: 10.0.0.11:5432
  authentication:
    superuser: { username: postgres, password: also-never }
`;

test('every part that matters, each with its line', () => {
  const { yaml, notes } = convert(
    FULL.replaceAll('/etc/patroni/', '/nowhere/')
      .replace('verify_client: required\n', 'verify_client: none\n')
      .replace(/ctl:\n.*\n.*\n/, ''),
  );
  expect(yaml).toContain(`cluster:
  scope: batman # patroni.yml:1
  seeds:
    - https://10.0.0.11:8008 # patroni.yml:6 pg-1
`);
  expect(yaml).toContain('      ca: /nowhere/ca.crt # patroni.yml:9\n');
  expect(notes).toContain('patroni.yml:12: commands that change the cluster need the login of the API as admin');
  expect(yaml + notes).not.toMatch(/never|keyfile/);
});

test('the certificate of patronictl is the client certificate', () => {
  const result = fromPatroni({ text: FULL, name: 'patroni.yml', apiPort: 8008 });
  const settings = result.kind === 'draft' ? result.draft.settings : [];
  expect(settings.map(({ path, value, from }) => `${path.join('.')} ${String(value)} ${from}`)).toEqual([
    'cluster.scope batman patroni.yml:1',
    'cluster.seeds.0 https://10.0.0.11:8008 patroni.yml:6 pg-1',
    'cluster.api.tls.ca /etc/patroni/ca.crt patroni.yml:9',
    'cluster.api.tls.cert /etc/patroni/client.crt patroni.yml:15',
    'cluster.api.tls.key /etc/patroni/client.key patroni.yml:16',
  ]);
});

test.each([
  ['connect_address: 10.0.0.11:8009', 'http://10.0.0.11:8009'],
  ['connect_address: 10.0.0.11', 'http://10.0.0.11:8008'],
  ['connect_address: "[fd00::1]:8008"', 'http://[fd00::1]:8008'],
  ['connect_address: pg1.example.org:8008', 'http://pg1.example.org:8008'],
  ['listen: 10.0.0.11:8010', 'http://10.0.0.11:8010'],
  ['listen: "10.0.0.11,127.0.0.1:8010"', 'http://10.0.0.11:8010'],
  ['listen: "*:8008"', 'http://127.0.0.1:8008'],
  ['listen: 0.0.0.0:8008', 'http://127.0.0.1:8008'],
])('restapi: { %s }', (line, url) => {
  expect(convert(`restapi:\n  ${line}\n`).yaml).toContain(url);
});

test('a missing host is assumed, and that is said', () => {
  expect(convert('restapi:\n  listen: 0.0.0.0:8008\n').notes).toBe(
    'patroni.yml:2: restapi.listen names no host: this host is assumed (restapi.connect_address is missing)',
  );
});

test.each([
  ['required', 'verify_client: required: set cluster.api.tls.cert and .key to a client certificate'],
  ['optional', 'to a client certificate for pointsman switchover and other operations'],
])('verify_client: %s without a client certificate', (verify, note) => {
  const { notes } = convert(`restapi: { connect_address: "a:1", certfile: /a, verify_client: ${verify} }\n`);
  expect(notes.replaceAll(/\s+/g, ' ')).toContain(note);
  expect(notes).toContain('no authority is named');
});

test.each([
  ['scope: [', 'patroni.yml:1:9: not valid YAML'],
  ['scope: {{ scope }}\nrestapi: 1\n', 'there is no section restapi'],
  ['scope: a\n', 'patroni.yml: there is no section restapi'],
  ['restapi: {}\n', 'patroni.yml:1: restapi.connect_address: it is missing'],
  ['restapi: { connect_address: "a b:1" }\n', 'patroni.yml:1: restapi.connect_address: a b:1 is not host:port'],
  ['- a\n- b\n', 'patroni.yml: it is no configuration of Patroni in YAML'],
])('broken: %j', (text, problem) => {
  expect(problemsOf(text)).toContain(problem);
});
