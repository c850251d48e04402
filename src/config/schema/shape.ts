// The schema seen from outside: the keys and the notes about them. Suggestions, the names of environment variables, the
// reference and the examples are made from it.
import { closest } from '../closest.ts';
import { formatPath, type Path } from '../fault.ts';
import { childOf, isTree, type Tree } from '../source/tree.ts';
import type { JsonSchema } from './file-json-schema.ts';
import { fileOutline, type Outline } from './file-outline.ts';

export interface Shape<Schema extends Outline = Outline> {
  readonly kind: 'map' | 'list' | 'text' | 'number' | 'flag';
  /** The keys of a map, or the shape of every value where the keys are the operator's. */
  readonly properties: ReadonlyMap<string, Shape<Schema>>;
  readonly values: Shape<Schema> | undefined;
  /** The items of a list. */
  readonly items: Shape<Schema> | undefined;
  /** More than one where a value may be written in several shapes; each is one of this list's own kind. */
  readonly alternatives: readonly Shape<Schema>[];
  /** The fields of this key. */
  readonly schema: Schema;
}

export const fileShape: Shape = toShape(fileOutline);

export function toShape(schema: JsonSchema): Shape<JsonSchema> {
  const child = (one: boolean | JsonSchema | undefined): Shape<JsonSchema> | undefined =>
    typeof one === 'object' ? toShape(one) : undefined;
  const properties = Object.entries(schema.properties ?? {}).flatMap(([key, value]) => {
    const shape = child(value);
    return shape === undefined ? [] : [[key, shape] as const];
  });
  const { items } = schema;
  return {
    kind: kindOf(schema.type),
    properties: new Map(properties),
    values: child(schema.additionalProperties),
    items: Array.isArray(items) ? undefined : child(items),
    alternatives: (schema.anyOf ?? []).flatMap((one) => child(one) ?? []),
    schema,
  };
}

/** A duration is text or a number, so that a number without a unit can be reported: its type is a list. */
function kindOf(type: unknown): Shape['kind'] {
  switch (type) {
    case 'object':
      return 'map';
    case 'array':
      return 'list';
    case 'integer':
    case 'number':
      return 'number';
    case 'boolean':
      return 'flag';
    default:
      return 'text';
  }
}

export function alternatives<Schema extends Outline>(shape: Shape<Schema>): readonly Shape<Schema>[] {
  return shape.alternatives.length === 0 ? [shape] : shape.alternatives;
}

/** True where a map or a list is expected, which may be left empty in YAML (`members:`). */
function isSection(shape: Shape): boolean {
  return alternatives(shape).some((one) => one.kind === 'map' || one.kind === 'list');
}

export function childShape<Schema extends Outline>(
  shape: Shape<Schema>,
  key: string | number,
): Shape<Schema> | undefined {
  const shapes = alternatives(shape).map((one) =>
    typeof key === 'number' ? one.items : (one.properties.get(key) ?? one.values),
  );
  return shapes.find((child) => child !== undefined);
}

function shapeAt(path: Path): Shape | undefined {
  return path.reduce<Shape | undefined>((shape, key) => shape && childShape(shape, key), fileShape);
}

/** True for a key whose value no output may show. */
export function isSecret(path: Path): boolean {
  return shapeAt(path)?.schema.isSecret === true;
}

/** True for a key that a reload leaves as it is. */
export function needsRestart(path: Path): boolean {
  return shapeAt(path)?.schema.needsRestart === true;
}

function knownKeys(path: Path): readonly string[] {
  const shape = shapeAt(path);
  return shape === undefined ? [] : alternatives(shape).flatMap((one) => [...one.properties.keys()]);
}

/** The message for a key that `path` does not have. */
export function unknownKey(path: Path, key: string): string {
  const known = knownKeys(path);
  const near = closest(key, known);
  if (near !== undefined) return `unknown key: did you mean ${formatPath([...path, near])}?`;
  const [elsewhere] = placesOf(key, fileShape, []);
  if (elsewhere !== undefined) return `unknown key here: did you mean ${formatPath(elsewhere)}?`;
  return `unknown key: known here are ${known.join(', ')}`;
}

function placesOf(key: string, shape: Shape, path: Path): readonly Path[] {
  return alternatives(shape).flatMap((one) =>
    [...one.properties].flatMap(([name, child]) => [
      ...(name === key ? [[...path, name]] : []),
      ...placesOf(key, child, [...path, name]),
    ]),
  );
}

/** Drops the keys at the top that begin with `x-`: they hold what anchors refer to. */
export function withoutExtensions(tree: Tree): Tree {
  return Object.fromEntries(Object.entries(tree).filter(([key]) => !key.startsWith('x-')));
}

/** Drops sections that were left empty, as if they had not been written. */
export function withoutEmptySections(tree: Tree): Tree {
  return pruneMap(tree, fileShape);
}

function pruneMap(tree: Tree, shape: Shape | undefined): Tree {
  const entries = Object.keys(tree).flatMap((key) => {
    const value = childOf(tree, key);
    const child = shape === undefined ? undefined : childShape(shape, key);
    const isEmptySection = value === null && child !== undefined && isSection(child);
    return isEmptySection ? [] : [[key, isTree(value) ? pruneMap(value, child) : value] as const];
  });
  return Object.fromEntries(entries);
}
