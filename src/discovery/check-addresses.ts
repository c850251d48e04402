// Checks a member of a cluster document: resolves its addresses, applies the trust rules, and keeps the addresses, so
// that later contacts use exactly what was checked.
import { addressOf, type Address, type ApiEndpoint, type Objection } from '../model/member.ts';
import type { DocumentMember } from '../patroni/cluster-document.ts';
import type { Destination, TrustRules } from './addresses.ts';
import { parseApiUrl } from './api-url.ts';
import type { Resolve } from './resolve.ts';

/** A document's member after the check. A `…Why` says why the address is undefined. */
export interface CheckedMember {
  readonly name: string;
  readonly api: ApiEndpoint | undefined;
  readonly apiWhy: Objection | undefined;
  readonly postgres: Address | undefined;
  readonly postgresWhy: Objection | undefined;
  /** Whether the document has a PostgreSQL address at all. */
  readonly isPostgresGiven: boolean;
}

/**
 * One host name or address, as PostgreSQL and DNS know them. A list of hosts, which a connection URL may hold, does not
 * match.
 */
const HOST = /^(?:[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,252})|[0-9A-Fa-f:.]{2,45})$/;

type AddressCheck<T> =
  | { readonly found: T; readonly why?: undefined }
  | { readonly found?: undefined; readonly why: Objection };

async function check(destination: Destination, rules: TrustRules, resolve: Resolve): Promise<AddressCheck<Address>> {
  const resolution = await resolve(destination.host);
  if (resolution.kind === 'unresolved') return { why: { reason: 'unresolved', why: resolution.why } };
  const [usable, ...others] = resolution.addresses.filter((one) => rules(destination, one) === undefined);
  if (usable !== undefined) return { found: addressOf(usable, destination.port, others) };
  return { why: rules(destination, resolution.addresses[0]) ?? { reason: 'address', why: 'not allowed' } };
}

function unreadable(why: string): { readonly why: Objection } {
  return { why: { reason: 'unreadable', why } };
}

async function checkApi(
  entry: DocumentMember,
  rules: TrustRules,
  resolve: Resolve,
): Promise<AddressCheck<ApiEndpoint>> {
  if (entry.apiUrl === undefined) return unreadable('/cluster has no API URL for it');
  const parsed = parseApiUrl(entry.apiUrl);
  if (parsed.kind === 'invalid') return unreadable(parsed.why);
  const { url, address } = parsed.api;
  const { found, why } = await check({ use: 'api', ...address }, rules, resolve);
  return found === undefined ? { why } : { found: { url, address: found } };
}

async function checkPostgres(
  entry: DocumentMember,
  rules: TrustRules,
  resolve: Resolve,
): Promise<AddressCheck<Address>> {
  const { host, port } = entry;
  if (host === undefined || port === undefined) return unreadable('/cluster has no host and port for it');
  if (!HOST.test(host)) return unreadable('its host in /cluster is not one host name or address');
  return await check({ use: 'postgres', host, port }, rules, resolve);
}

/** Never rejects. */
export async function checkAddresses(
  entry: DocumentMember,
  rules: TrustRules,
  resolve: Resolve,
): Promise<CheckedMember> {
  const [api, postgres] = await Promise.all([checkApi(entry, rules, resolve), checkPostgres(entry, rules, resolve)]);
  return {
    name: entry.name,
    api: api.found,
    apiWhy: api.why,
    postgres: postgres.found,
    postgresWhy: postgres.why,
    isPostgresGiven: entry.host !== undefined && entry.port !== undefined,
  };
}
