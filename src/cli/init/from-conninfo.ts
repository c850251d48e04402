// A libpq connection string as a draft. It names PostgreSQL, so the management API is guessed at one port of each host.
import { DraftBuilder, unusable, type ReadSource } from './draft.ts';
import { parseConninfo, type ParsedConninfo } from './conninfo.ts';

type Conninfo = Extract<ParsedConninfo, { kind: 'conninfo' }>;

/** The wanted server, in the words of libpq. JDBC has its own words. */
const ATTRS: Readonly<Record<string, string>> = {
  primary: 'read-write',
  master: 'read-write',
  'read-write': 'read-write',
  standby: 'standby',
  'read-only': 'standby',
  secondary: 'standby',
  slave: 'standby',
  'prefer-standby': 'prefer-standby',
  prefersecondary: 'prefer-standby',
  preferslave: 'prefer-standby',
  any: 'any',
};

const WRITES = '127.0.0.1:6432';
const READS = '127.0.0.1:6433';

export function fromConninfo(text: string, apiPort: number): ReadSource {
  const parsed = parseConninfo(text);
  if (parsed.kind === 'invalid') return unusable(`the connection string: ${parsed.why}`);
  const { values } = parsed;
  const draft = new DraftBuilder();
  addHosts(values, apiPort, draft);
  if (!draft.hasSeeds) {
    return unusable('the connection string names no host that can be reached over TCP: use the URL of an API instead');
  }
  const attrs = attrsOf(values);
  if (attrs === 'standby' || attrs === 'prefer-standby') {
    const from = `target_session_attrs=${values.get('target_session_attrs') ?? attrs}`;
    draft.set(['pools', 'read', 'check'], '/replica', `${from} has no limit on the lag`);
    if (attrs === 'standby') draft.set(['pools', 'read', 'fallback'], 'none', from);
    if (isRandom(values)) draft.set(['pools', 'read', 'balance'], 'random', 'load_balance_hosts');
  }
  const seconds = values.get('connect_timeout') ?? values.get('connectTimeout');
  if (seconds !== undefined && /^[1-9]\d*$/.test(seconds)) {
    draft.set(['backend', 'connect_timeout'], `${seconds}s`, 'connect_timeout, for one member');
    draft.note(
      'connect_timeout of the application must be longer than hold.client_timeout (30 s), or clients that could wait ' +
        'give up',
    );
  }
  const authority = values.get('sslrootcert');
  if (authority !== undefined && authority !== 'system')
    draft.authorities.push({ file: authority, from: 'sslrootcert' });
  if (values.get('sslmode') === 'verify-full') {
    draft.note(
      'sslmode=verify-full compares the certificate with the host name: use verify-ca, or give the name of the ' +
        'certificate as host and the address of Pointsman as hostaddr',
    );
  }
  if (values.has('password')) draft.note('the password was not read; no output shows it');
  draft.next.push(...nextSteps(parsed, attrs));
  return { kind: 'draft', draft };
}

function addHosts(values: ReadonlyMap<string, string>, apiPort: number, draft: DraftBuilder): void {
  const addresses = values.get('hostaddr')?.split(',') ?? [];
  const names = values.get('host')?.split(',') ?? [];
  const count = Math.max(1, addresses.length, names.length);
  for (let i = 0; i < count; i++) {
    const host = addresses[i] || names[i] || 'localhost';
    if (/^[/@]/.test(host)) {
      draft.note(`the socket ${host} is on this host: its API is expected at 127.0.0.1`);
      draft.seed(`http://127.0.0.1:${apiPort}`, `the socket ${host}`);
    } else if (/^[\w.:-]+$/.test(host)) {
      draft.seed(
        `http://${host.includes(':') ? `[${host}]` : host}:${apiPort}`,
        `host ${host}, port ${apiPort} assumed`,
      );
    } else draft.note('a host of the connection string cannot be read and is left out');
  }
  draft.note(`the port of the management API is not in a connection string: ${apiPort} is assumed (--api-port)`);
}

function attrsOf(values: ReadonlyMap<string, string>): string {
  const written = values.get('target_session_attrs') ?? values.get('targetServerType') ?? 'any';
  return ATTRS[written.toLowerCase()] ?? 'any';
}

function isRandom(values: ReadonlyMap<string, string>): boolean {
  return values.get('load_balance_hosts') === 'random' || values.get('loadBalanceHosts') === 'true';
}

function nextSteps(parsed: Conninfo, attrs: string): readonly string[] {
  const strings = (address: string): string => `  ${rewritten(parsed, address)}`;
  const password = parsed.values.has('password') ? ', with its password' : '';
  switch (attrs) {
    case 'read-write':
      return [`The application connects to the primary here${password}:`, strings(WRITES)];
    case 'standby':
    case 'prefer-standby':
      return [`The application connects to the replicas here${password}:`, strings(READS)];
    default:
      return [
        `The application takes any server. Writes go to the first address, reads to the second${password}:`,
        strings(WRITES),
        strings(READS),
      ];
  }
}

/** Pointsman chooses the member, and a password is shown nowhere. */
const LEFT_OUT = new Set(
  'host hostaddr port password target_session_attrs load_balance_hosts targetServerType loadBalanceHosts'.split(' '),
);

/** The same connection string, to Pointsman at `address`. */
function rewritten({ form, values }: Conninfo, address: string): string {
  const [host = '', port = ''] = address.split(':');
  const kept = [...values].filter(([key]) => !LEFT_OUT.has(key));
  if (form === 'keywords') {
    const all = [['host', host] as const, ['port', port] as const, ...kept];
    return all.map(([key, value]) => `${key}=${quoted(value)}`).join(' ');
  }
  const isInPath = (key: string): boolean => key === 'dbname' || (key === 'user' && form === 'uri');
  const query = kept.filter(([key]) => !isInPath(key)).map(([key, value]) => `${key}=${encodeURIComponent(value)}`);
  const user = values.get('user');
  const owner = user === undefined || form === 'jdbc' ? '' : `${encodeURIComponent(user)}@`;
  const end = query.length === 0 ? '' : `?${query.join('&')}`;
  const scheme = form === 'jdbc' ? 'jdbc:postgresql' : 'postgresql';
  return `${scheme}://${owner}${address}/${encodeURIComponent(values.get('dbname') ?? '')}${end}`;
}

function quoted(value: string): string {
  return /^[^\s'\\]+$/.test(value) ? value : `'${value.replaceAll(/['\\]/g, String.raw`\$&`)}'`;
}
