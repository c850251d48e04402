// Rules between pools, their fallbacks and their listeners, each with its reason.
import { addressText, type Address } from '../../model/member.ts';
import { isUnixSocket } from '../../model/unix-socket.ts';
import { DEFAULT_POOLS, ONE_MEMBER_FAMILIES, isExclusive } from '../schema/defaults.ts';
import { closest } from '../closest.ts';
import { error, warning, type Fault, type Path } from '../fault.ts';
import type { ParsedFile } from '../schema/file-schema.ts';

export function poolRules(parsed: ParsedFile): readonly Fault[] {
  const { pools, listeners } = parsed;
  return Object.entries(pools).flatMap(([name, pool]) => {
    const faults: Fault[] = [];
    const at = (key: string): Path => ['pools', name, key];
    const { path: endpoint, family } = pool.check;
    const isForOne = ONE_MEMBER_FAMILIES.includes(family);
    if (isExclusive(pool) && !isForOne) {
      const why = 'but an exclusive pool has one: use /primary, /leader or /standby-leader';
      faults.push(error(`several members answer ${endpoint}, ${why}`, at('check'), at('exclusive')));
    }
    if (!isExclusive(pool) && isForOne) {
      const why = 'while a lease expires, and both would get writes: leave exclusive out';
      faults.push(error(`two members can answer ${endpoint} ${why}`, at('exclusive'), at('check')));
    }
    const isUsed =
      listeners.some((listener) => listener.pool === name) ||
      Object.values(pools).some((other) => typeof other.fallback === 'object' && other.fallback.pool === name);
    if (!isUsed && !DEFAULT_POOLS.includes(name)) {
      const text = `no listener routes to this pool${byTarget(name, parsed)}`;
      faults.push(warning(text, ['pools', name], ['listeners']));
    }
    return faults;
  });
}

/** Replies inside TLS cannot be read: only logins tell. */
export function latencyRules({ pools, client }: ParsedFile): readonly Fault[] {
  if (client.tls.mode !== 'passthrough') return [];
  return Object.entries(pools).flatMap(([name, { balance }]) => {
    if (balance !== 'latency') return [];
    const text = 'counts only the time of a login for clients in TLS: set client.tls.mode to terminate or require';
    return [warning(text, ['pools', name, 'balance'], ['client', 'tls', 'mode'])];
  });
}

/** How clients reach a pool without a listener: by the database's name, where Pointsman reads the startup message. */
function byTarget(pool: string, { client }: ParsedFile): string {
  const unread = client.tls.mode === 'passthrough' ? ', if they do not use TLS' : '';
  return `: clients reach it only as DATABASE@${pool}${unread}`;
}

export function fallbackRules({ pools }: ParsedFile): readonly Fault[] {
  const next = new Map(
    Object.entries(pools).flatMap(([name, { fallback }]) =>
      typeof fallback === 'object' ? [[name, fallback.pool] as const] : [],
    ),
  );
  return [...next].flatMap(([name, target]) => {
    const path: Path = ['pools', name, 'fallback', 'pool'];
    if (!Object.hasOwn(pools, target)) return [error(unknownPool(target, pools), path, ['pools'])];
    if (target === name) return [error('a pool cannot be its own fallback', path)];
    const circle = circleFrom(name, next);
    if (circle === undefined) return [];
    const involved = circle.map((pool): Path => ['pools', pool, 'fallback', 'pool']);
    return [error(`fallbacks form a circle: ${[...circle, name].join(' -> ')}`, path, ...involved)];
  });
}

/** The pools from `start` back to it; undefined when the chain ends, or runs into another circle. */
function circleFrom(start: string, next: ReadonlyMap<string, string>): readonly string[] | undefined {
  const chain = [start];
  for (let pool = next.get(start); pool !== undefined; pool = next.get(pool)) {
    if (pool === start) return chain;
    if (chain.includes(pool)) return undefined;
    chain.push(pool);
  }
  return undefined;
}

function unknownPool(name: string, pools: ParsedFile['pools']): string {
  const known = Object.keys(pools);
  const near = closest(name, known);
  return `there is no pool ${name}: ${near === undefined ? '' : `did you mean ${near}? `}Known are ${known.join(', ')}`;
}

export function listenerRules({ listeners, pools, admin, workers }: ParsedFile): readonly Fault[] {
  const faults: Fault[] = [];
  const places: { readonly path: Path; readonly address: Address }[] = listeners.map(({ address }, i) => ({
    path: ['listeners', i, 'address'],
    address,
  }));
  places.push({ path: ['admin', 'address'], address: admin.address });
  const console = admin.console.address;
  if (console !== undefined) places.push({ path: ['admin', 'console', 'address'], address: console });
  for (const [i, { pool }] of listeners.entries()) {
    if (!Object.hasOwn(pools, pool)) faults.push(error(unknownPool(pool, pools), ['listeners', i, 'pool'], ['pools']));
  }
  faults.push(...listeners.flatMap((listener, i) => unixFaults(listener, i, workers)));
  for (const [i, { path, address }] of places.entries()) {
    const earlier = places.slice(0, i).find((other) => collide(other.address, address));
    if (earlier === undefined) continue;
    const where = earlier.path.slice(0, -1).map((part) => (typeof part === 'number' ? part + 1 : part));
    const first = `${where.join(' ').replace('listeners', 'listener')} (${addressText(earlier.address)})`;
    faults.push(error(`${addressText(address)} is already taken by ${first}`, path, earlier.path));
  }
  return faults;
}

function unixFaults(
  listener: ParsedFile['listeners'][number],
  i: number,
  workers: ParsedFile['workers'],
): readonly Fault[] {
  const at = (key: string): Path => ['listeners', i, key];
  if (!isUnixSocket(listener.address)) {
    if (listener.unix_socket_mode === undefined) return [];
    return [error('only the file of a Unix socket has a mode: leave it out', at('unix_socket_mode'), at('address'))];
  }
  const faults: Fault[] = [];
  if (workers !== 1) {
    const text = 'a Unix socket is served by one process: set workers: 1, or leave this listener out';
    faults.push(error(text, at('address'), ['workers']));
  }
  if (listener.proxy_protocol !== undefined) {
    const text = 'a Unix socket has no networks to name: leave it out, clients there are on this host';
    faults.push(error(text, at('proxy_protocol'), at('address')));
  }
  return faults;
}

/** Port 0 never collides: the system chooses another each time. */
function collide(a: Address, b: Address): boolean {
  if (a.port !== b.port || a.port === 0) return false;
  if (a.host === b.host) return true;
  return !isUnixSocket(a) && !isUnixSocket(b) && (includes(a.host, b.host) || includes(b.host, a.host));
}

/** True when listening on `host` takes the port of `other` too. */
function includes(host: string, other: string): boolean {
  return host === '::' || (host === '0.0.0.0' && !other.includes(':'));
}
