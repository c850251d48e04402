// YAML 1.2 text into a tree, with the line and column of everything in it.
import { LineCounter, isAlias, isMap, isNode, isScalar, isSeq, parseDocument } from 'yaml';
import type { Document, YAMLError } from 'yaml';
import type { Path } from '../fault.ts';
import { isTree } from './tree.ts';
import type { Tree } from './tree.ts';

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
      /** Where the value (or its key) at `path` stands; undefined when the text does not have it. */
      readonly positionOf: (path: Path, part: 'key' | 'value') => TextPosition | undefined;
    }
  | { readonly kind: 'invalid'; readonly faults: readonly YamlFault[] };

export function readYaml(text: string): YamlText {
  const lines = new LineCounter();
  const document = parseDocument(text, { version: '1.2', lineCounter: lines, prettyErrors: false });
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

/** The first place of the key that stands at `offset` again. */
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

/** What can be made out of a text that may have faults. `isWhole`: it has none. */
export function readYamlLoosely(text: string): { readonly tree: Tree | undefined; readonly isWhole: boolean } {
  const document = parseDocument(text, { version: '1.2', prettyErrors: false, logLevel: 'error' });
  const tree = toTree(document);
  const isWhole = document.errors.length === 0 && typeof tree !== 'string';
  return { tree: typeof tree === 'string' ? undefined : tree, isWhole };
}

/** The tree, or what is wrong with the whole. */
function toTree(document: Document): Tree | string {
  try {
    // The default bound on aliases is kept: a few lines of YAML can otherwise unfold into gigabytes.
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
      const pair = node.items.find((item) => String(isScalar(item.key) ? item.key.value : item.key) === String(step));
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

function startOf(node: unknown): number | undefined {
  return isNode(node) ? node.range?.[0] : undefined;
}
