// YAML 1.2 text into a tree, with the line and column of everything in it.
import { LineCounter, isAlias, isMap, isNode, isScalar, isSeq, parseDocument } from 'yaml';
import type { Document, Pair, YAMLError, YAMLMap } from 'yaml';
import type { Path } from '../fault.ts';
import { isTree, type Tree } from './tree.ts';

/** Both start at 1. */
export interface TextPosition {
  readonly line: number;
  readonly column: number;
}

export interface YamlFault {
  readonly at: TextPosition | undefined;
  readonly message: string;
}

export type YamlText =
  | {
      readonly kind: 'tree';
      readonly tree: Tree;
      /** The place of the value (or its key) at `path`; undefined when the text does not have it. */
      readonly positionOf: (path: Path, part: 'key' | 'value') => TextPosition | undefined;
    }
  | { readonly kind: 'invalid'; readonly faults: readonly YamlFault[] };

/** Merge keys (`<<`) are no part of YAML 1.2, but people use them together with anchors. */
const OPTIONS = { version: '1.2', merge: true, prettyErrors: false } as const;

export function readYaml(text: string): YamlText {
  const lines = new LineCounter();
  // Its warnings are problems here, so it does not print them as well.
  const document = parseDocument(text, { ...OPTIONS, lineCounter: lines, logLevel: 'error' });
  const at = (offset: number): TextPosition => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
  const faults = [...document.errors, ...document.warnings].map((fault) => ({
    at: at(fault.pos[0]),
    message: `not valid YAML: ${faultText(document, fault, at)}`,
  }));
  if (faults.length > 0) return { kind: 'invalid', faults };
  const tree = toTree(document);
  if (typeof tree === 'string') return { kind: 'invalid', faults: [{ at: undefined, message: tree }] };
  return {
    kind: 'tree',
    tree,
    positionOf: (path, part) => {
      const offset = offsetOf(document, path, part);
      return offset === undefined ? undefined : at(offset);
    },
  };
}

function faultText(
  document: Document,
  { code, message, pos }: YAMLError,
  at: (offset: number) => TextPosition,
): string {
  if (code === 'MULTIPLE_DOCS') return 'it has several documents: keep one, without a line --- behind it';
  const twice = code === 'DUPLICATE_KEY' ? firstOf(document.contents, pos[0]) : undefined;
  return twice === undefined ? message : `the key ${twice.key} is given twice, first in line ${at(twice.offset).line}`;
}

/** The first place of the key that is repeated at `offset`. */
function firstOf(node: unknown, offset: number): { readonly key: string; readonly offset: number } | undefined {
  if (isSeq(node)) return firstDefined(node.items.map((item) => firstOf(item, offset)));
  if (!isMap(node)) return undefined;
  const again = node.items.find(({ key }) => startOf(key) === offset);
  if (again === undefined) return firstDefined(node.items.map(({ value }) => firstOf(value, offset)));
  const first = node.items.find(({ key }) => isScalar(key) && isScalar(again.key) && key.value === again.key.value);
  const place = startOf(first?.key);
  return place === undefined ? undefined : { key: String(again.key), offset: place };
}

function firstDefined<T>(list: readonly (T | undefined)[]): T | undefined {
  return list.find((one) => one !== undefined);
}

/** The readable part of a text that may have faults. `isWhole`: it has none. */
export function readYamlLoosely(text: string): { readonly tree: Tree | undefined; readonly isWhole: boolean } {
  const document = parseDocument(text, { ...OPTIONS, logLevel: 'error' });
  const tree = toTree(document);
  const isWhole = document.errors.length === 0 && typeof tree !== 'string';
  return { tree: typeof tree === 'string' ? undefined : tree, isWhole };
}

/** The tree, or the fault of the whole text. */
function toTree(document: Document): Tree | string {
  try {
    // The default limit on aliases is kept: a few lines of YAML can otherwise unfold into gigabytes.
    const value: unknown = document.toJS() ?? {};
    return isTree(value) ? value : 'expected a map with keys such as cluster and listeners at the top';
  } catch (error) {
    return `not valid YAML: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function offsetOf(document: Document, path: Path, part: 'key' | 'value'): number | undefined {
  let node: unknown = document.contents;
  let offset: number | undefined;
  for (const [i, step] of path.entries()) {
    if (isAlias(node)) node = node.resolve(document);
    let key: unknown;
    if (isMap(node)) {
      const pair = pairOf(document, node, String(step));
      [key, node] = [pair?.key, pair?.value];
    } else {
      node = isSeq(node) ? node.items[Number(step)] : undefined;
    }
    const wantsKey = i === path.length - 1 && part === 'key';
    offset = (wantsKey ? undefined : startOf(node)) ?? startOf(key);
    if (offset === undefined) return undefined;
  }
  return offset;
}

/** The pair in the map itself, or in a map that it merges. */
function pairOf(document: Document, map: YAMLMap, key: string): Pair | undefined {
  const own = map.items.find((item) => String(isScalar(item.key) ? item.key.value : item.key) === key);
  if (own !== undefined) return own;
  const merged = map.items.filter((item) => isScalar(item.key) && item.key.source === '<<').map(({ value }) => value);
  for (const source of merged.flatMap((value) => (isSeq(value) ? value.items : [value]))) {
    const node = isAlias(source) ? source.resolve(document) : source;
    const found = isMap(node) ? pairOf(document, node, key) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

function startOf(node: unknown): number | undefined {
  return isNode(node) ? node.range?.[0] : undefined;
}
