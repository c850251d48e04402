// The branch that an argument names: its id, or its name. No slugs here: a command that changes something takes what
// the list shows.
import type { Branch } from '../../model/branch.ts';
import { shown } from '../../model/printable.ts';

export type FoundBranch =
  | { readonly kind: 'found'; readonly branch: Branch }
  | { readonly kind: 'none' }
  /** Several branches have the name. */
  | { readonly kind: 'several'; readonly ids: readonly string[] };

export function findBranch(given: string, all: readonly Branch[]): FoundBranch {
  const byId = all.find(({ id }) => id === given);
  if (byId !== undefined) return { kind: 'found', branch: byId };
  const named = all.filter(({ name }) => name === given);
  const [first] = named;
  if (first === undefined) return { kind: 'none' };
  return named.length === 1 ? { kind: 'found', branch: first } : { kind: 'several', ids: named.map(({ id }) => id) };
}

export function severalText(name: string, ids: readonly string[]): string {
  return `${ids.length} branches have the name ${shown(name)}: use the id, one of ${ids.map(shown).join(', ')}`;
}

/** `branch pr-1 (br-aged-salad)` */
export function branchText({ name, id }: Branch): string {
  return name === id ? `branch ${shown(id)}` : `branch ${shown(name)} (${shown(id)})`;
}
