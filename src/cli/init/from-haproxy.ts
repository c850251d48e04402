// An haproxy.cfg in front of Patroni as a draft: listeners, checks, servers, and what has no counterpart.
import type { Environment } from '../../config/source/environment.ts';
import { DraftBuilder, unusable, type ReadSource } from './draft.ts';
import { apiOf, checkOf, hasCheckPort, otherExpectations } from './haproxy-check.ts';
import { noteTheRest } from './haproxy-leftovers.ts';
import { addListeners, backendOf } from './haproxy-listeners.ts';
import { lastLine, proxiesOf, type HaproxyProxy } from './haproxy-proxies.ts';
import { readHaproxyText, type HaproxyLine, type HaproxyText } from './haproxy-text.ts';

export interface HaproxySource {
  readonly text: string;
  /** For places: `haproxy.cfg`. */
  readonly name: string;
  readonly env: Environment;
  readonly apiPort: number;
}

/** A backend of PostgreSQL with its pool. */
interface HaproxyPool {
  readonly proxy: HaproxyProxy;
  readonly check: string;
  readonly line: number;
  readonly pool: string;
}

const BALANCE: Readonly<Record<string, string>> = {
  roundrobin: 'round_robin',
  'static-rr': 'round_robin',
  leastconn: 'least_sessions',
  source: 'client_address',
  random: 'random',
};
const EXCLUSIVE = /^\/(?:primary|leader|standby-leader)\b/;

export function fromHaproxy({ text, name, env, apiPort }: HaproxySource): ReadSource {
  const read = readHaproxyText(text, env);
  const draft = new DraftBuilder(name);
  const none = (why: string): ReadSource =>
    unusable(...draft.notes.map(({ place, text: noted }) => `${place ?? name}: ${noted}`), `${name}: ${why}`);
  for (const fault of read.faults) draft.note(fault.text, fault.line);
  const proxies = proxiesOf(read);
  const found = backendsOf(proxies, draft);
  if (found.length === 0) return none("no backend asks Patroni's API (option httpchk /primary): nothing to convert");
  for (const { proxy } of found) addServers(proxy, apiPort, draft);
  if (!draft.hasSeeds) return none("no server can be used as a seed: start from the URL of a member's API");
  addTls(read, found, draft);
  const pools = new Map(found.map(({ proxy, pool }) => [proxy.name, pool]));
  addListeners(proxies, pools, draft);
  for (const one of found) addPool(one, draft);
  const accepting = proxies.filter((proxy) => proxy.kind !== 'backend' && pools.has(backendOf(proxy) ?? ''));
  addLimits(found, accepting, read, draft);
  const converted = new Set([...accepting, ...found.map(({ proxy }) => proxy)]);
  const inOrder = proxies.filter((proxy) => converted.has(proxy));
  noteTheRest(read, proxies, inOrder, draft);
  return { kind: 'draft', draft };
}

/** The first backend of primaries is the pool `write`, the first other one `read`; further ones keep their names. */
function backendsOf(proxies: readonly HaproxyProxy[], draft: DraftBuilder): readonly HaproxyPool[] {
  const found: HaproxyPool[] = [];
  for (const proxy of proxies.filter(({ servers }) => servers.length > 0)) {
    const check = checkOf(proxy);
    if (check.kind === 'none') {
      if (!check.isOther) draft.note(`${proxy.kind} ${proxy.name} is not converted: ${check.why}`, check.line);
      continue;
    }
    const twin = found.find((one) => one.check === check.check);
    const usual = EXCLUSIVE.test(check.check) ? 'write' : 'read';
    const own = proxy.name.toLowerCase().replaceAll(/[^a-z\d_-]+/g, '-');
    const pool = twin?.pool ?? (found.some((one) => one.pool === usual) ? own : usual);
    found.push({ proxy, check: check.check, line: check.line, pool });
    for (const line of otherExpectations(proxy)) {
      draft.note('http-check expect: Pointsman always takes 200 for yes and 503 for no', line);
    }
  }
  return found;
}

function addServers(proxy: HaproxyProxy, apiPort: number, draft: DraftBuilder): void {
  for (const server of proxy.servers) {
    const api = apiOf(server, proxy, apiPort);
    if (api.kind === 'api') draft.seed(api.url, `${draft.at(server.line)} ${server.name}`);
    else draft.note(`server ${server.name} is not used as a seed: ${api.why}`, server.line);
  }
  const other = proxy.servers.find(({ address }) => /:\d+$/.test(address) && !address.endsWith(':5432'));
  if (other !== undefined) {
    const text =
      'the servers have another port than 5432: Pointsman connects to the port of PostgreSQL that each member ' +
      'reports. For a pooler on the hosts of the members set cluster.members[].postgres';
    draft.note(text, other.line);
  }
  const missing = proxy.servers.find((server) => !hasCheckPort(server, proxy));
  if (missing !== undefined) {
    draft.note(`the check has no port, so port ${apiPort} is assumed for the API (--api-port)`, missing.line);
  }
}

/** TLS towards the APIs: `check-ssl ca-file FILE crt FILE verify none`. */
function addTls({ global }: HaproxyText, found: readonly HaproxyPool[], draft: DraftBuilder): void {
  const server = found.flatMap(({ proxy }) => proxy.servers).find(({ options }) => options.has('check-ssl'));
  if (server === undefined) return;
  const { options, line } = server;
  const ca = options.get('ca-file');
  const crt = options.get('crt');
  if (ca?.startsWith('@') === true) draft.note(`ca-file ${ca}: the authorities that Node.js knows are used`, line);
  else if (ca !== undefined) draft.set(['cluster', 'api', 'tls', 'ca'], within(global, 'ca-base', ca), line);
  if (crt !== undefined) {
    draft.set(['cluster', 'api', 'tls', 'cert'], within(global, 'crt-base', crt), line);
    draft.set(['cluster', 'api', 'tls', 'key'], within(global, 'crt-base', crt), line);
  }
  const isUnverified =
    options.get('verify') === 'none' ||
    (options.get('verify') === undefined && lastLine(global, 'ssl-server-verify', 'none') !== undefined);
  if (isUnverified) {
    draft.set(['cluster', 'api', 'tls', 'insecure'], true, `${draft.at(line)} verify none`);
    draft.note(
      'verify none: a stranger that answers at the address of a member could redirect the writes. Set a CA',
      line,
    );
  }
}

/** A relative file lies in the folder that `ca-base` or `crt-base` names. */
function within(global: readonly HaproxyLine[], keyword: string, file: string): string {
  const base = lastLine(global, keyword)?.words[1];
  return base === undefined || file.startsWith('/') ? file : `${base}/${file}`;
}

function addPool({ proxy, pool, check, line }: HaproxyPool, draft: DraftBuilder): void {
  draft.set(['pools', pool, 'check'], check, line);
  if (EXCLUSIVE.test(check)) return;
  const balance = lastLine(proxy.lines, 'balance');
  const algorithm = balance?.words[1]?.replace(/\(.*/, '') ?? 'roundrobin';
  const written = BALANCE[algorithm];
  if (written === undefined) {
    draft.note(`balance ${algorithm} has no counterpart: the fewest sessions count`, balance?.line ?? line);
  } else
    draft.set(['pools', pool, 'balance'], written, balance === undefined ? 'the default of HAProxy' : balance.line);
  if (proxy.servers.some(({ options }) => options.has('backup'))) {
    draft.note('backup servers: new sessions go to the pool write while no member of the pool is eligible', line);
    if (pool !== 'read') draft.set(['pools', pool, 'fallback'], { pool: 'write' }, line);
    return;
  }
  if (pool === 'read') draft.set(['pools', pool, 'fallback'], 'none', 'as HAProxy; without this line: the primary');
}

const UNIT_MS: Readonly<Record<string, number>> = { us: 0.001, ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** HAProxy's time: milliseconds, or with a unit. */
function timeOf(text: string | undefined): number | undefined {
  const [, digits, unit = ''] = /^(\d+)(us|ms|s|m|h|d)?$/.exec(text ?? '') ?? [];
  return digits === undefined ? undefined : Math.ceil(Number(digits) * (UNIT_MS[unit === '' ? 'ms' : unit] ?? 1));
}

/** 0 unless every part is a limit. */
function sumOf(limits: readonly number[]): number {
  return limits.every((limit) => limit > 0) ? limits.reduce((sum, limit) => sum + limit, 0) : 0;
}

/**
 * The limit on clients: that of the servers, else that of the listeners, else the one for everything. `accepting`: the
 * proxies that accept the clients of the pools.
 */
function addLimits(
  found: readonly HaproxyPool[],
  accepting: readonly HaproxyProxy[],
  { global }: HaproxyText,
  draft: DraftBuilder,
): void {
  const sums = found.map(({ proxy: { servers } }) => {
    const limits = servers.map(({ options }) => Number(options.get('maxconn')));
    const isSame = limits.every((limit) => limit === limits[0]);
    const text = `${limits.length} servers${isSame ? ` with maxconn ${limits[0]}` : ''}`;
    return { sum: sumOf(limits), line: servers[0]?.line ?? 0, text };
  });
  const [most] = sums.toSorted((a, b) => b.sum - a.sum);
  const own = accepting.map(({ lines }) => lastLine(lines, 'maxconn'));
  const limits = own.every((line) => line !== undefined) ? own : [lastLine(global, 'maxconn')];
  const limit = sumOf(limits.map((line) => Number(line?.words[1])));
  if (most !== undefined && most.sum > 0) {
    draft.set(['client', 'max_sessions'], most.sum, `${draft.at(most.line)} ${most.text}`);
  } else if (limit > 0) {
    draft.set(['client', 'max_sessions'], limit, `${draft.at(limits[0]?.line ?? 0)} maxconn`);
  }
  const connect = lastLine(found[0]?.proxy.lines ?? [], 'timeout', 'connect');
  const ms = timeOf(connect?.words[2]);
  if (connect === undefined || ms === undefined || ms === 0) return;
  draft.set(['backend', 'connect_timeout'], ms % 1000 === 0 ? `${ms / 1000}s` : `${ms}ms`, connect.line);
}
