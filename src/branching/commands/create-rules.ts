// The names that `pointsman branches create` refuses: those that no client could use. Pure.
import { indexBranches } from '../../branches/resolve.ts';
import type { Branch } from '../../model/branch.ts';
import { findPool } from '../../model/pool-names.ts';
import { shown } from '../../model/printable.ts';
import type { BranchContext } from './branch-context.ts';
import { routeTo } from './target-route.ts';

/** The lists of both sources are read with names up to this length. Characters. */
const MAX_NAME = 256;

/** Undefined: a client can write it behind the @ of a database. */
export function whyBadName(name: string): string | undefined {
  if (name === '') return 'the name is empty: give it one, such as pr-1';
  if (/@|%40/.test(name)) return `${shown(name)} has an @, which separates the database from the branch: leave it out`;
  if (/[\s\p{Cc}\p{Cf}]/u.test(name)) return `${shown(name)} has a space or an invisible character: use - or _ instead`;
  if (name.length > MAX_NAME) return `the name has more than ${MAX_NAME} characters: use a shorter one`;
  return undefined;
}

/** `all`: the branches that exist. Undefined: clients reach the branch of this name, which may exist already. */
export function whyUnreachable(
  name: string,
  all: readonly Branch[],
  { config, policy }: Pick<BranchContext, 'config' | 'policy'>,
): string | undefined {
  const pool = findPool(
    name,
    config.pools.map((one) => one.name),
  );
  if (pool !== undefined) return `${shown(name)} is a name of the pool ${pool}, which comes first: choose another name`;
  const isThere = all.some((branch) => branch.name === name);
  const route = routeTo(
    name,
    'write',
    indexBranches(isThere ? all : [...all, { id: 'planned', name, parentId: 'parent' }], policy),
  );
  if (route.kind === 'routed' || !route.isRule) return undefined;
  return `no client could use ${shown(name)}: ${route.why}`;
}
