// The documents, taken apart: their files, fenced blocks, headings, links and inline code.
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

export const TOP = new URL('../../../', import.meta.url).pathname;

export interface Block {
  readonly file: string;
  /** The number of its first line of text. */
  readonly line: number;
  readonly language: string;
  readonly text: string;
  /** It stands in the part that `npm run record-session` writes. */
  readonly isRecorded: boolean;
}

export interface Document {
  readonly file: string;
  readonly text: string;
  readonly blocks: readonly Block[];
  /** Without the fenced blocks, line by line; an empty line stands for each of theirs. */
  readonly prose: readonly string[];
}

const RECORDING = ['<!-- recorded by npm run record-session -->', '<!-- end of the recording -->'] as const;

export function documents(): readonly Document[] {
  const patterns = ['*.md', '{.github,config,deploy,src,test}/**/*.md'];
  return globSync(patterns, { cwd: TOP }).toSorted().map(readDocument);
}

function readDocument(file: string): Document {
  const text = readFileSync(join(TOP, file), 'utf8');
  const blocks: Block[] = [];
  const prose: string[] = [];
  let open: { line: number; language: string; indent: string; lines: string[] } | undefined;
  let isRecorded = false;
  for (const [index, line] of text.split('\n').entries()) {
    const [, indent = '', language = ''] = /^( *)```(\w*)/.exec(line) ?? [];
    const isFence = line.trimStart().startsWith('```');
    if (line === RECORDING[0]) isRecorded = true;
    if (line === RECORDING[1]) isRecorded = false;
    prose.push(isFence || open !== undefined ? '' : line);
    if (!isFence) open?.lines.push(line.slice(open.indent.length));
    else if (open === undefined) open = { line: index + 2, language, indent, lines: [] };
    else {
      blocks.push({ file, line: open.line, language: open.language, text: open.lines.join('\n'), isRecorded });
      open = undefined;
    }
  }
  return { file, text, blocks, prose };
}

/** The anchors of its headings, as GitHub makes them. */
export function anchors({ prose }: Document): ReadonlySet<string> {
  const found = new Set<string>();
  for (const line of prose) {
    const [, heading] = /^#{1,6} (.*)$/.exec(line) ?? [];
    if (heading !== undefined) found.add(slug(heading));
  }
  return found;
}

function slug(heading: string): string {
  const plain = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/[`*]/g, '');
  return plain
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_\- ]/gu, '')
    .replaceAll(' ', '-');
}

export interface Link {
  readonly written: string;
  /** Relative to the top of the repository. */
  readonly file: string;
  readonly anchor: string;
}

/** Those that stay in the repository. */
export function internalLinks({ file, prose }: Document): readonly Link[] {
  return [...prose.join('\n').matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, written = '']) => {
    if (/^[a-z]+:/.test(written)) return [];
    const [path = '', anchor = ''] = written.split('#');
    return [{ written, file: path === '' ? file : normalize(join(dirname(file), path)), anchor }];
  });
}

/** The texts between backticks in the prose, tables included. */
export function inlineCode({ prose }: Document): readonly string[] {
  return [...prose.join('\n').matchAll(/`([^`]+)`/g)].map(([, code = '']) => code.replaceAll(/\s+/g, ' '));
}
