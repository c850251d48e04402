// The branches that an argument names: by id, or by name. No slugs here: a command that changes something takes what
// the list shows.
import type { Branch } from '../../model/branch.ts';
import { shown } from '../../model/printable.ts';

/** Several branches may have one name. */
export function findBranches(given: string, all: readonly Branch[]): readonly Branch[] {
  const byId = all.find(({ id }) => id === given);
  return byId === undefined ? all.filter(({ name }) => name === given) : [byId];
}

export function severalText(name: string, found: readonly Branch[]): string {
  const ids = found.map(({ id }) => shown(id)).join(', ');
  return `${found.length} branches have the name ${shown(name)}: use the id, one of ${ids}`;
}

/** `branch pr-1 (br-aged-salad)` */
export function branchText({ name, id }: Branch): string {
  return name === id ? `branch ${shown(id)}` : `branch ${shown(name)} (${shown(id)})`;
}
