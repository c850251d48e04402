// The startup packet of a client: the login to show, the pool that it requests, and the packet to forward. Pure.
import { BRANCHES_POOL } from '../../model/branch.ts';
import type { PoolName } from '../../model/policy.ts';
import { findPool, POOL_ALIASES } from '../../model/pool-names.ts';
import { readPoolRequest, type PoolRequest } from '../../wire/startup/pool-request.ts';
import { startupParameters } from '../../wire/startup/startup.ts';
import type { ProxyPolicy } from '../options.ts';
import type { ClientNames } from '../client-names.ts';
import { SharedValues } from '../shared-values.ts';

export interface StartupParameters {
  readonly names: ClientNames;
  /** As the client sent it; undefined if it names no pool. */
  readonly poolRequest: PoolRequest | undefined;
  /** The packet without the pool request. */
  readonly forwarded: Uint8Array;
}

/** Clients of one application send equal packets. Each is read once, and is one object in memory. */
export class StartupPackets {
  readonly #known = new SharedValues<StartupParameters>();

  /** `bytes`: a whole packet. They may change later. */
  read(bytes: Uint8Array): StartupParameters {
    const key = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
    return this.#known.of(key, () => readStartupParameters(new Uint8Array(bytes)));
  }
}

export function readStartupParameters(packet: Uint8Array): StartupParameters {
  const parsed = readPoolRequest(packet);
  // A packet with a broken layout is read as far as possible.
  const { user = startupParameters(packet).get('user'), poolRequest, forwarded } = parsed;
  const { database = user } = parsed;
  const login = {
    ...(user === undefined ? {} : { user: clientText(user) }),
    ...(database === undefined ? {} : { database: clientText(database) }),
  };
  const application = parsed.application === undefined ? undefined : clientText(parsed.application);
  return { names: { login, application }, poolRequest, forwarded };
}

export type ChosenPool =
  | { readonly kind: 'pool'; readonly pool: PoolName }
  /** `pool`: the reserved one. `unknown`: the sentence for a client if there is no such branch either. */
  | { readonly kind: 'branch'; readonly pool: PoolName; readonly target: string; readonly unknown: string }
  | { readonly kind: 'unknown'; readonly detail: string };

/** `listenerPool`: for clients that request no pool. A pool comes before a branch of the same name. */
export function choosePool(
  requested: string | undefined,
  listenerPool: PoolName,
  { pools, branches }: Pick<ProxyPolicy, 'pools' | 'branches'>,
): ChosenPool {
  if (requested === undefined) return { kind: 'pool', pool: listenerPool };
  const names = pools.map(({ name }) => name);
  const pool = findPool(requested, names);
  if (pool !== undefined) return { kind: 'pool', pool };
  if (branches === undefined) return { kind: 'unknown', detail: describeUnknown(requested, names) };
  const unknown = describeUnknown(requested, names, 'pool or branch');
  return { kind: 'branch', pool: BRANCHES_POOL, target: requested, unknown };
}

/** `no pool named "foo"; available: write, read, rw (write), ro (read)`. It names no branch. */
export function describeUnknown(
  requested: string,
  pools: readonly PoolName[],
  what: 'pool' | 'pool or branch' = 'pool',
): string {
  const aliases = Object.entries(POOL_ALIASES).filter(
    ([alias, pool]) => pools.includes(pool) && !pools.includes(alias),
  );
  const known = [...pools, ...aliases.map(([alias, pool]) => `${alias} (${pool})`)];
  const available = what === 'pool' ? 'available' : 'pools';
  return `no ${what} named "${clientText(requested)}"; ${available}: ${known.join(', ')}`;
}

/** PostgreSQL cuts names at this length, between two characters. Bytes. */
const MAX_NAME = 63;
const ENCODER = new TextEncoder();
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/**
 * A name from a client, fit for a log line, an error and a status page: at most 63 bytes, control characters as
 * `\u001b`.
 */
function clientText(name: string): string {
  const { read } = ENCODER.encodeInto(name, new Uint8Array(MAX_NAME));
  return name.slice(0, read).replace(UNPRINTABLE, escaped);
}

function escaped(character: string): string {
  return `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`;
}
