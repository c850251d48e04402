// Which branch a target names, whether it may be routed, and where it listens: by the list and the policy alone. Pure.
import { BRANCH_PLACEHOLDERS } from '../model/branch.ts';
import type { Branch, BranchAccess, BranchBackend, BranchLookup, BranchesPolicy } from '../model/branch.ts';
import { addressText, type Address } from '../model/member.ts';
import { shown } from '../model/printable.ts';
import { matchesWildcard } from '../model/wildcard.ts';
import { atOnce, ENTRIES } from './in-turns.ts';

/** A list, prepared for lookups by one policy. */
export interface BranchIndex {
  /** Without entries that repeat an id. */
  readonly branches: readonly Branch[];
  /** Undefined: the list has no such branch. */
  match(target: string): BranchMatch | undefined;
  lookup(target: string, access: BranchAccess): ListLookup;
}

/** An id comes before a name, a name before a slug. Several branches: the target is ambiguous. */
export interface BranchMatch {
  readonly by: 'id' | 'name' | 'slug';
  readonly branches: readonly [Branch, ...Branch[]];
}

/** `unknown`: this list has no such branch, however old it is. */
export type ListLookup = Exclude<BranchLookup, { kind: 'unavailable' }>;

/** In a DNS name. Characters. */
const MAX_LABEL = 63;
const MAX_HOST = 253;

/**
 * The name as GitLab makes CI_COMMIT_REF_SLUG: in lower case, `-` for every character that is no letter of a to z and
 * no digit, at most 63 characters, no `-` at either end. Empty: the name has no slug.
 */
export function slugOf(name: string): string {
  const plain = name.toLowerCase().replaceAll(/[^a-z0-9]/gu, '-');
  return plain.slice(0, MAX_LABEL).replaceAll(/^-+|-+$/g, '');
}

export function indexBranches(list: readonly Branch[], policy: BranchesPolicy): BranchIndex {
  return atOnce(indexing(list, policy));
}

/** The same, for `inTurns`. */
export function* indexing(list: readonly Branch[], policy: BranchesPolicy): Generator<void, BranchIndex> {
  const byId = new Map<string, Branch>();
  const byName = new Map<string, Branch[]>();
  const bySlug = new Map<string, Branch[]>();
  for (const [at, branch] of list.entries()) {
    if (at % ENTRIES === 0) yield;
    if (byId.has(branch.id)) continue;
    byId.set(branch.id, branch);
    add(byName, branch.name, branch);
    add(bySlug, slugOf(branch.name), branch);
  }
  bySlug.delete('');
  const branches = [...byId.values()];
  const places = yield* placesOf(branches, policy);

  const match = (target: string): BranchMatch | undefined => {
    const exact = byId.get(target);
    if (exact !== undefined) return { by: 'id', branches: [exact] };
    return several('name', byName.get(target)) ?? several('slug', bySlug.get(target));
  };
  return {
    branches,
    match,
    lookup(target, access) {
      const found = match(target);
      if (found === undefined) return { kind: 'unknown' };
      const [branch, ...others] = found.branches;
      if (others.length > 0) return { kind: 'ambiguous', ids: found.branches.map(({ id }) => id) };
      const why = refusalOf(branch, policy);
      if (why !== undefined) return { kind: 'not_allowed', branch, why };
      const place = places(branch, access);
      if (place.kind === 'nowhere') return { kind: 'no_backend', branch, why: place.why };
      return { kind: 'found', branch, backend: place.backend };
    },
  };
}

function add(map: Map<string, Branch[]>, key: string, branch: Branch): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, [branch]);
  else known.push(branch);
}

function several(by: BranchMatch['by'], [first, ...others]: readonly Branch[] = []): BranchMatch | undefined {
  return first === undefined ? undefined : { by, branches: [first, ...others] };
}

/**
 * Undefined: the branch may be routed. A root is production, so `*` alone does not allow it. A branch with tables alone
 * may be a root as well.
 */
function refusalOf({ name, parentId }: Branch, { source, allow }: BranchesPolicy): 'root' | 'allow' | undefined {
  const isRoot = parentId === undefined && source.kind !== 'static';
  const isAllowed = allow === undefined ? !isRoot : allow.some((pattern) => isFor(pattern, name, isRoot));
  if (isAllowed) return undefined;
  return isRoot ? 'root' : 'allow';
}

function isFor(pattern: string, name: string, isRoot: boolean): boolean {
  return matchesWildcard(name, pattern) && !(isRoot && /^\*+$/.test(pattern));
}

type BackendPlace =
  | { readonly kind: 'at'; readonly backend: BranchBackend; readonly isOwn: boolean }
  | { readonly kind: 'nowhere'; readonly why: string };

/**
 * The address of each branch. An address that the configuration makes of names may belong to two branches, or to a
 * third one by its id: such a branch has none, because its clients could reach the other one.
 */
function* placesOf(
  branches: readonly Branch[],
  policy: BranchesPolicy,
): Generator<void, (branch: Branch, access: BranchAccess) => BackendPlace> {
  const places = new Map<string, Readonly<Record<BranchAccess, BackendPlace>>>();
  const owners = new Map<string, Branch[]>();
  for (const [at, branch] of branches.entries()) {
    if (at % ENTRIES === 0) yield;
    const own = { write: placeOf(branch, policy, 'write'), read: placeOf(branch, policy, 'read') };
    places.set(branch.id, own);
    for (const address of new Set([addressKey(own.write), addressKey(own.read)])) {
      if (address !== undefined) add(owners, address, branch);
    }
  }
  return (branch, access) => {
    const place = places.get(branch.id)?.[access];
    if (place === undefined) throw new Error('not a branch of this list');
    if (place.kind === 'nowhere' || place.isOwn) return place;
    const other = owners.get(addressKey(place) ?? '')?.find(({ id }) => id !== branch.id);
    if (other === undefined) return place;
    const owner = `branch ${shown(other.name)} (${shown(other.id)})`;
    const why = `${settingOf(place.backend.rule)} gives it the address of ${owner}`;
    return nowhere(`${why}: use {id} there, or an entry of branches.backends.overrides by id`);
  };
}

/** DNS ignores case. */
function addressKey(place: BackendPlace | undefined): string | undefined {
  return place?.kind === 'at' ? addressText(place.backend.address).toLowerCase() : undefined;
}

/** `branches.backends.template` */
export function settingOf(rule: BranchBackend['rule']): string {
  return rule === 'static' ? 'branches.static' : `branches.backends.${rule.replace(/override$/, 'overrides')}`;
}

function placeOf(branch: Branch, { source, backends }: BranchesPolicy, access: BranchAccess): BackendPlace {
  const { template, readTemplate, overrides, readOverrides, tls } = backends;
  const at = (address: Address, rule: BranchBackend['rule'], isOwn: boolean): BackendPlace => ({
    kind: 'at',
    backend: { address, rule, tls },
    isOwn,
  });
  if (source.kind === 'static') {
    const address = source.branches.get(branch.name);
    return address === undefined ? nowhere('branches.static does not have it') : at(address, 'static', true);
  }
  const single = [
    ...(access === 'read' ? [[readOverrides, 'read_override'] as const] : []),
    [overrides, 'override'] as const,
  ];
  for (const [entries, rule] of single) {
    const own = entries.get(branch.id);
    if (own !== undefined) return at(own, rule, true);
    const named = entries.get(branch.name);
    if (named !== undefined) return at(named, rule, false);
  }
  const isRead = access === 'read' && branch.hasReadEndpoint === true && readTemplate !== undefined;
  const [used, rule] = isRead ? ([readTemplate, 'read_template'] as const) : ([template, 'template'] as const);
  if (used === undefined) {
    return nowhere('it has no entry in branches.backends.overrides, and there is no branches.backends.template');
  }
  const { host, why } = filled(used.host, branch);
  if (why !== undefined) return nowhere(`${settingOf(rule)} gives it no address: ${why}`);
  return at({ host, port: used.port }, rule, false);
}

function nowhere(why: string): BackendPlace {
  return { kind: 'nowhere', why };
}

const PLACEHOLDER = new RegExp(`\\{(${BRANCH_PLACEHOLDERS.join('|')})\\}`, 'g');

/** The names are foreign text: none may turn the host into another kind of address, or leave the template's domain. */
function filled(template: string, branch: Branch): { readonly host: string; readonly why?: string } {
  const values: Readonly<Record<string, string>> = { id: branch.id, name: branch.name, slug: slugOf(branch.name) };
  for (const [, key = ''] of template.matchAll(PLACEHOLDER)) {
    const value = values[key] ?? '';
    // A dot would lead to another level of the domain: to any service of a cluster, where that is its domain.
    if (/^[\w-]+$/.test(value)) continue;
    const advice = key === 'id' ? 'use branches.backends.overrides' : `use ${key === 'name' ? '{slug} or ' : ''}{id}`;
    return { host: template, why: `its ${key} "${shown(value)}" cannot be part of a host name; ${advice}` };
  }
  const host = template.replaceAll(PLACEHOLDER, (_, key: string) => values[key] ?? '');
  const isHost =
    host.length <= MAX_HOST &&
    host.split('.').every((label) => label.length <= MAX_LABEL && /^\w(?:[\w-]*\w)?$/.test(label)) &&
    // Resolvers read such a host as a number of an address.
    !/(?:^|\.)(?:\d+|0x[\da-f]*)$/i.test(host);
  return isHost ? { host } : { host, why: `"${shown(host)}" is not a host name` };
}
