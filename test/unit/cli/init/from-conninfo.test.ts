// A connection string of libpq or JDBC as a file of Pointsman, and the new connection string of the application.
import { expect, test } from 'vitest';
import { parseConninfo } from '../../../../src/cli/init/conninfo.ts';
import { fromConninfo } from '../../../../src/cli/init/from-conninfo.ts';
import { writeDraft } from '../../../../src/cli/init/write-draft.ts';

interface Converted {
  readonly yaml: string;
  readonly next: readonly string[];
  readonly all: string;
}

function convert(text: string): Converted {
  const result = fromConninfo(text, 8008);
  if (result.kind === 'unusable') throw new Error(result.problems.join('\n'));
  const written = writeDraft(result.draft.settings, '');
  if (written.kind === 'invalid') throw new Error(written.problems.join('\n'));
  const { notes, next } = result.draft;
  return { yaml: written.text, next, all: [written.text, ...next, ...notes.map(({ text: said }) => said)].join('\n') };
}

function valuesOf(text: string): Readonly<Record<string, string>> | string {
  const parsed = parseConninfo(text);
  return parsed.kind === 'conninfo' ? Object.fromEntries(parsed.values) : parsed.why;
}

test.each([
  ['postgresql://app@pg1:5432,pg2:5433/app', { user: 'app', host: 'pg1,pg2', port: '5432,5433', dbname: 'app' }],
  ['postgres://pg1', { host: 'pg1' }],
  ['postgresql://[::1]:5432,[fd00::2]/a', { host: '::1,fd00::2', port: '5432,', dbname: 'a' }],
  ['postgresql:///app?host=pg1,pg2&port=5432', { dbname: 'app', host: 'pg1,pg2', port: '5432' }],
  ['postgresql://u%40x:p%2Fw@h/d%20b', { user: 'u@x', password: 'p/w', host: 'h', dbname: 'd b' }],
  ['postgresql://%2Frun%2Fpg/app', { host: '/run/pg', dbname: 'app' }],
  [
    'jdbc:postgresql://a:1,b:2/d?user=u&targetServerType=primary',
    { host: 'a,b', port: '1,2', dbname: 'd', user: 'u', targetServerType: 'primary' },
  ],
  ['host=pg1,pg2 port=5432 dbname = app', { host: 'pg1,pg2', port: '5432', dbname: 'app' }],
  [
    String.raw`host='a b' password='it\'s \\' user=x\ y`,
    { host: 'a b', password: String.raw`it's \ `.trimEnd(), user: 'x y' },
  ],
  ["host=''", { host: '' }],
  ["host='a", 'the quote in the value of host has no end'],
  ['host=a nonsense', 'expected keyword=value pairs, such as host=pg1,pg2 dbname=app'],
  ['postgresql://a:b:c/d', 'a host or port in the URI cannot be read'],
  ['postgresql://a/%zz', 'the value of dbname has a wrong percent-encoding'],
])('%s', (text, values) => {
  expect(valuesOf(text)).toEqual(values);
});

test('writes: the hosts are seeds, and the application gets the first listener', () => {
  const { yaml, next } = convert(
    'postgresql://app@10.0.0.11,10.0.0.12:5433/app?target_session_attrs=read-write&sslmode=require',
  );
  expect(yaml).toBe(`cluster:
  seeds:
    - http://10.0.0.11:8008 # host 10.0.0.11, port 8008 assumed
    - http://10.0.0.12:8008 # host 10.0.0.12, port 8008 assumed
# Writes: 127.0.0.1:6432, reads: 127.0.0.1:6433. For other addresses add listeners.
`);
  expect(next).toEqual([
    'The application connects to the primary here:',
    '  postgresql://app@127.0.0.1:6432/app?sslmode=require',
  ]);
});

test.each([
  ['standby', 'check: /replica', 'fallback: none'],
  ['read-only', 'check: /replica', 'fallback: none'],
  ['prefer-standby', 'check: /replica', undefined],
])('reads: target_session_attrs=%s', (attrs, check, fallback) => {
  const { yaml, next } = convert(
    `host=pg1,pg2 dbname=app user='a b' target_session_attrs=${attrs} load_balance_hosts=random`,
  );
  expect(yaml).toContain(check);
  expect(yaml).toContain('balance: random');
  expect(yaml.includes('fallback: none')).toBe(fallback !== undefined);
  expect(next.at(-1)).toBe("  host=127.0.0.1 port=6433 dbname=app user='a b'");
});

test('any server: both addresses are named', () => {
  expect(convert('jdbc:postgresql://pg1,pg2/app').next).toEqual([
    'The application takes any server. Writes go to the first address, reads to the second:',
    '  jdbc:postgresql://127.0.0.1:6432/app',
    '  jdbc:postgresql://127.0.0.1:6433/app',
  ]);
});

test.each([
  'postgresql://app:s3cret@pg1/app?target_session_attrs=primary',
  'postgresql://app@pg1/app?password=s3cret',
  "host=pg1 password='s3cret'",
  'jdbc:postgresql://pg1/app?user=a&password=s3cret',
])('no output has the password: %s', (text) => {
  const { all, next } = convert(text);
  expect(all).not.toContain('s3cret');
  expect(next[0]).toContain('with its password');
});

test.each(['postgresql://app:s3cret@pg1:x:y/app', "host=pg1 password='s3cret", 'postgresql://a:s3cret%@pg1/d'])(
  'the problem of a broken string does not have the password: %s',
  (text) => {
    const result = fromConninfo(text, 8008);
    expect(result.kind).toBe('unusable');
    expect(JSON.stringify(result)).not.toContain('s3cret');
  },
);

test('connect_timeout counts for one member, and the client is told', () => {
  const { yaml, all } = convert('host=pg1 connect_timeout=5');
  expect(yaml).toContain('connect_timeout: 5s');
  expect(all).toContain('must be longer than hold.client_timeout');
});

test('a socket is on this host', () => {
  expect(convert('host=/run/postgresql').yaml).toContain('http://127.0.0.1:8008');
});
