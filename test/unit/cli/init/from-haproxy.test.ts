// An haproxy.cfg as a file of Pointsman: the usual forms, and the line of each thing that has no counterpart.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../../../src/config/load.ts';
import { fromHaproxy } from '../../../../src/cli/init/from-haproxy.ts';
import { writeDraft } from '../../../../src/cli/init/write-draft.ts';
import { configOf } from '../../../support/values/loading.ts';

interface Converted {
  readonly yaml: string;
  readonly notes: readonly string[];
}

function convert(text: string, env: Readonly<Record<string, string>> = {}): Converted {
  const result = fromHaproxy({ text, name: 'h.cfg', env, apiPort: 8008 });
  if (result.kind === 'unusable') throw new Error(result.problems.join('\n'));
  const written = writeDraft(result.draft.settings, '');
  if (written.kind === 'invalid') throw new Error(written.problems.join('\n'));
  return { yaml: written.text, notes: result.draft.notes.map(({ place, text: said }) => `${place}: ${said}`) };
}

function problemsOf(text: string): readonly string[] {
  const result = fromHaproxy({ text, name: 'h.cfg', env: {}, apiPort: 8008 });
  return result.kind === 'unusable' ? result.problems : [];
}

const configured = (yaml: string) => configOf(loadConfig({ file: 'p', env: {}, readFile: () => yaml }));

test('lines of global, timeouts and backup servers are named', () => {
  const cfg = `global\n  maxconn 4000\n  log stdout local0\n${PRIMARY}  timeout server 30m\n`;
  const text = convert(cfg).notes.join('\n');
  for (const said of ['h.cfg:2: maxconn of global', 'h.cfg:3: log:', 'timeout server: nothing to set']) {
    expect(text).toContain(said);
  }
  expect(convert(PRIMARY.replace('check port 8008', 'backup check port 8008')).notes.join('\n')).toContain('backup: ');
});

test('a Unix socket with the name that clients of PostgreSQL look for is a listener', () => {
  const bind = 'bind unix@/run/haproxy/.s.PGSQL.5000 user app mode 770';
  const { yaml, notes } = convert(PRIMARY.replace(/bind .*/, bind));
  expect(configured(yaml).listeners).toMatchObject([
    { address: { host: '/run/haproxy', port: 5000 }, pool: 'write', unixSocketMode: 0o770 },
  ]);
  expect(notes.filter((note) => note.includes('bind'))).toEqual([]);
});

test('the file of the migration guide', () => {
  const text = readFileSync(new URL('../../../../deploy/migration/haproxy.cfg', import.meta.url), 'utf8');
  expect(convert(text).yaml).toBe(`cluster:
  seeds:
    - http://10.0.0.11:8008 # h.cfg:18 pg-1
    - http://10.0.0.12:8008 # h.cfg:19 pg-2
    - http://10.0.0.13:8008 # h.cfg:20 pg-3
pools:
  read:
    balance: round_robin # the default of HAProxy
    fallback: none # as HAProxy; without this line: the primary
listeners:
  - { address: "*:5000", pool: write } # h.cfg:14
  - { address: "*:5001", pool: read } # h.cfg:23
client:
  max_sessions: 300 # h.cfg:18 3 servers with maxconn 100
backend:
  connect_timeout: 4s # h.cfg:9
`);
  const guide = readFileSync(new URL('../../../../deploy/migration/haproxy.pointsman.yaml', import.meta.url), 'utf8');
  const { file: made } = configured(convert(text).yaml);
  expect(made).toEqual(configured(guide).file);
});

const PRIMARY = `listen primary
  bind *:5000
  option httpchk GET /primary
  server pg1 10.0.0.11:5432 check port 8008
`;

test.each([
  ['no path: the primary', 'option httpchk', '/primary'],
  ['an old name', 'option httpchk OPTIONS /master', '/primary'],
  ['with a version', String.raw`option httpchk OPTIONS /primary HTTP/1.1\r\nHost:\ www`, '/primary'],
  ['a path alone', 'option httpchk /read-write', '/primary'],
  ['http-check send', 'option httpchk\n  http-check send meth OPTIONS uri /leader ver HTTP/1.1 hdr Host x', '/leader'],
])('the check of the primary: %s', (_, lines, check) => {
  const { yaml } = convert(PRIMARY.replace('option httpchk GET /primary', lines));
  expect(configured(yaml).pools.find(({ name }) => name === 'write')?.check.text).toBe(check);
});

test.each([
  ['GET /replica', '/replica'],
  ['GET /replica?lag=100MB', '/replica?lag=100MB'],
  ['GET "/replica?lag=1MB&tag_zone=eu"', '/replica?lag=1MB&tag_zone=eu'],
  ['GET /read-only', '/read-only'],
  ['GET /synchronous', '/synchronous'],
  ['GET /async?lag=10MB', '/async?lag=10MB'],
])('the check of replicas: %s', (request, check) => {
  const { yaml } = convert(PRIMARY.replace('GET /primary', request));
  expect(configured(yaml).pools.find(({ name }) => name === 'read')?.check.text).toBe(check);
});

test.each([
  ['roundrobin', 'round_robin', true],
  ['leastconn', 'least_sessions', true],
  ['source', 'client_address', true],
  ['random(2)', 'random', true],
  ['first', 'least_sessions', false],
])('balance %s', (algorithm, balance, isKnown) => {
  const { yaml, notes } = convert(`${PRIMARY.replace('/primary', '/replica')}  balance ${algorithm}\n`);
  expect(configured(yaml).pools.find(({ name }) => name === 'read')?.balance).toBe(balance);
  expect(notes.some((note) => note.includes(`balance ${algorithm.replace('(2)', '')} has no counterpart`))).toBe(
    !isKnown,
  );
});

test('a frontend with its backend, default-server and TLS of the API', () => {
  const { yaml } = convert(`global
  ca-base /etc/ssl
frontend fe_write
  bind 10.0.0.5:5000,[fd00::5]:5000 name a
  default_backend be_write
frontend fe_read
  bind :::5001 v4v6
  default_backend be_read
backend be_write
  option httpchk GET /primary
  default-server inter 1s port 8008 check-ssl ca-file patroni.crt crt /etc/client.pem
  server pg1 pg1.example.org:5432 check
  server pg2 pg2.example.org:5432 check
backend be_read
  option httpchk GET /replica
  server pg1 pg1.example.org:5432 check check-ssl port 8008
`);
  expect(yaml).toContain(`  api:
    tls:
      ca: /etc/ssl/patroni.crt # h.cfg:12
      cert: /etc/client.pem # h.cfg:12
      key: /etc/client.pem # h.cfg:12
`);
  const { cluster, listeners } = configured(yaml.replace(/ {2}api:\n.*\n.*\n.*\n.*\n/, ''));
  expect(cluster.seeds.map(({ url }) => url)).toEqual(['https://pg1.example.org:8008', 'https://pg2.example.org:8008']);
  expect(listeners.map(({ address: { host, port }, pool }) => `${host} ${port} ${pool}`)).toEqual([
    '10.0.0.5 5000 write',
    'fd00::5 5000 write',
    ':: 5001 read',
  ]);
});

test('verify none is carried over, with a warning', () => {
  const { yaml, notes } = convert(PRIMARY.replace('check port 8008', 'check check-ssl verify none port 8008'));
  expect(yaml).toContain('      insecure: true # h.cfg:4 verify none\n');
  expect(notes.join('\n')).toContain('h.cfg:4: verify none: a stranger');
});

test('server-template and resolvers: the name is a seed', () => {
  const { yaml, notes } = convert(`resolvers dns
  nameserver a 10.0.0.2:53
listen primary
  bind :5000
  option httpchk
  http-check connect port 8008
  server-template pg 3 patroni.example.org:5432 check resolvers dns
`);
  expect(configured(yaml).cluster.seeds.map(({ url }) => url)).toEqual(['http://patroni.example.org:8008']);
  expect(notes).toContain('h.cfg:1: resolvers: the name servers of the system are asked');
});

test('SRV records name ports of PostgreSQL, so they are no seed', () => {
  expect(problemsOf(PRIMARY.replace('server pg1 10.0.0.11:5432', 'server-template pg 3 _pg._tcp.example.org'))).toEqual(
    [
      expect.stringContaining('h.cfg:4: server pg is not used as a seed: SRV records'),
      expect.stringContaining('no server can be used as a seed'),
    ],
  );
});

test('the old form of a listener, and variables', () => {
  const text = `listen primary *:5000
  option httpchk /primary
  server pg1 "\${PG1}:5432" check port "\${API_PORT-8009}"
`;
  const { yaml } = convert(text, { PG1: '10.1.0.1' });
  expect(yaml).toContain('http://10.1.0.1:8009');
  expect(yaml).toContain('{ address: "*:5000", pool: write } # h.cfg:1');
  expect(problemsOf(text).join('\n')).toContain('h.cfg:3: the environment variable PG1 is not set here');
});

test('servers on another port may be poolers, which is said', () => {
  const { notes } = convert(PRIMARY.replace('5432', '6432'));
  expect(notes.join('\n')).toContain(
    'h.cfg:4: the servers have another port than 5432: Pointsman connects to the port',
  );
  expect(convert(PRIMARY).notes.join('\n')).not.toContain('another port');
});

test('a check without a port: the port of the API is assumed', () => {
  const { yaml, notes } = convert(PRIMARY.replace(' port 8008', ''));
  expect(yaml).toContain('http://10.0.0.11:8008');
  expect(notes).toContain('h.cfg:4: the check has no port, so port 8008 is assumed for the API (--api-port)');
});

describe('what is not carried over is named with its line', () => {
  const { notes } = convert(`defaults
  timeout client 30m
listen stats
  bind *:7000
  mode http
  stats enable
listen web
  bind *:80
  mode http
  server a 10.0.0.1:80 check
${PRIMARY}  acl inside src 10.0.0.0/8
  http-check expect rstatus 2..
  bind unix@/run/pg.sock
  server pg2 10.0.0.12:5432 check port 8008 backup send-proxy weight 10
`);
  test.each([
    'h.cfg:2: timeout client: nothing to set',
    'h.cfg:6: the page of statistics: /status and /metrics',
    'h.cfg:7: listen web is not converted: it has no option httpchk',
    'h.cfg:15: acl: rules have no counterpart',
    'h.cfg:16: http-check expect: Pointsman always takes 200',
    'h.cfg:17: bind unix@/run/pg.sock is not converted',
    'h.cfg:18: send-proxy has no counterpart',
    'h.cfg:18: weight: weights are a tag',
    'h.cfg:14: without on-marked-down shutdown-sessions HAProxy leaves sessions',
  ])('%s', (start) => {
    expect(notes.filter((note) => note.startsWith(start))).toHaveLength(1);
  });
});

function aBackend(name: string, check: string, port: number): string {
  return `listen ${name}\n bind *:${port}\n option httpchk ${check}\n server a 10.0.0.11:5432 check port 8008\n`;
}

test('a third pool keeps its own name', () => {
  const { yaml } = convert(PRIMARY + aBackend('replicas', '/replica', 5001) + aBackend('Sync Replicas', '/sync', 5002));
  expect(configured(yaml).pools.map(({ name, check }) => `${name} ${check.text}`)).toEqual([
    'write /primary',
    'read /replica',
    'sync /sync',
  ]);
});

test.each([
  ['an empty text', ''],
  ['no backend of PostgreSQL', 'listen web\n bind *:80\n server a 10.0.0.1:80 check\n'],
  ['a check that Patroni does not have', PRIMARY.replace('/primary', '/nothing')],
])('nothing to convert: %s', (_, text) => {
  expect(problemsOf(text).at(-1)).toBe(
    "h.cfg: no backend asks Patroni's API (option httpchk /primary): nothing to convert",
  );
});

test('broken lines are named, and the rest is read', () => {
  const { yaml, notes } = convert(`stray line\n${PRIMARY}  log "no end\n.if defined(X)\n.endif\n`);
  expect(yaml).toContain('http://10.0.0.11:8008');
  expect(notes).toContain('h.cfg:1: stray stands before the first section and is ignored');
  expect(notes).toContain('h.cfg:6: the quote " has no end');
  expect(notes).toContain('h.cfg:7: .if is not evaluated: the lines of every branch count');
});
