// A tree as YAML, with a comment beside or above a key.
import { formatPath, type Path } from '../fault.ts';
import { isTree, type Tree } from '../source/tree.ts';
import { inline, wrapped } from './text.ts';

const WIDTH = 120;

export interface Comments {
  /** Behind the value. A list with comments for its items is written one item a line, an item that is a map in one. */
  readonly beside?: ReadonlyMap<string, string>;
  /** Lines of their own before the key. */
  readonly above?: ReadonlyMap<string, string>;
  /** The column at which comments begin, where the value leaves room. Default: behind the value. */
  readonly column?: number;
}

/** Comments are found by the path of a key or item: `probe.interval`, `cluster.seeds[0]`. */
export function commentedYaml(tree: Tree, comments: Comments): string {
  return mapLines(tree, [], comments)
    .map((line) => `${line}\n`)
    .join('');
}

function mapLines(tree: Tree, path: Path, comments: Comments): readonly string[] {
  const indent = '  '.repeat(path.length);
  return Object.entries(tree).flatMap(([key, value]) => {
    const own = [...path, key];
    const name = inline(key);
    return [...above(own, indent, comments), ...valueLines(`${indent}${name}:`, value, own, comments)];
  });
}

/** `start`: the key with its colon. */
function valueLines(start: string, value: unknown, path: Path, comments: Comments): readonly string[] {
  if (isTree(value) && Object.keys(value).length > 0) {
    return [withComment(start, path, comments), ...mapLines(value, path, comments)];
  }
  if (Array.isArray(value) && value.length > 0 && !isInline(start, value, path, comments)) {
    const indent = '  '.repeat(path.length);
    const items = value.flatMap((item: unknown, i) => itemLines(item, [...path, i], indent, comments));
    return [withComment(start, path, comments), ...items];
  }
  return [withComment(`${start} ${inline(value)}`, path, comments)];
}

function isInline(start: string, value: readonly unknown[], path: Path, { beside, above }: Comments): boolean {
  const isCommented = value.some((_, i) => {
    const item = formatPath([...path, i]);
    return beside?.has(item) === true || above?.has(item) === true;
  });
  return !isCommented && !value.some((item) => isTree(item)) && start.length + inline(value).length < WIDTH;
}

function itemLines(item: unknown, path: Path, indent: string, comments: Comments): readonly string[] {
  const before = above(path, indent, comments);
  if (!isTree(item) || comments.beside?.has(formatPath(path)) === true) {
    return [...before, withComment(`${indent}- ${inline(item)}`, path, comments)];
  }
  const lines = Object.entries(item).flatMap(([key, value]) =>
    valueLines(`${indent}  ${inline(key)}:`, value, [...path, key], comments),
  );
  return [...before, ...lines.map((line, i) => (i === 0 ? line.replace(`${indent}  `, `${indent}- `) : line))];
}

function above(path: Path, indent: string, comments: Comments): readonly string[] {
  const text = comments.above?.get(formatPath(path));
  return text === undefined ? [] : wrapped(text, `${indent}# `);
}

function withComment(line: string, path: Path, { beside, column = 0 }: Comments): string {
  const text = beside?.get(formatPath(path));
  return text === undefined ? line : `${line.padEnd(column)} # ${text}`;
}
