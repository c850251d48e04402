// The configuration as it was written: a tree of plain maps, lists and scalars, before any schema has seen it.
import type { Path } from '../fault.ts';

export interface Tree {
  [key: string]: unknown;
}

export function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The child at one step; undefined where there is none. */
export function childOf(value: unknown, key: string | number): unknown {
  if (Array.isArray(value)) return value[Number(key)];
  return isTree(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

export function valueAt(tree: unknown, path: Path): unknown {
  return path.reduce<unknown>((value, step) => childOf(value, step), tree);
}

/**
 * Sets a value in place and makes maps and lists on the way. Sets nothing where another kind of value is in the way:
 * the schema reports it.
 */
export function setAt(tree: Tree, path: Path, value: unknown): void {
  let here: unknown = tree;
  for (const [i, key] of path.entries()) {
    const isLast = i === path.length - 1;
    const given = childOf(here, key);
    const isMissing = given === undefined || given === null || given === 'none';
    const next = isLast ? value : isMissing ? (typeof path[i + 1] === 'number' ? [] : {}) : given;
    if (Array.isArray(here)) here[Number(key)] = next;
    else if (isTree(here)) here[key] = next;
    else return;
    here = next;
  }
}
