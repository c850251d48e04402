// The text of an haproxy.cfg as sections, lines and words. Tolerant: an unknown keyword is a line like any other. No
// well-kept library for Node reads this format.
// https://docs.haproxy.org/3.0/configuration.html#2.2 (quoting), #4 (sections)
import type { Environment } from '../../config/source/environment.ts';

export interface HaproxyLine {
  /** Starts at 1. */
  readonly line: number;
  readonly words: readonly string[];
}

export interface HaproxySection {
  /** `global`, `defaults`, `listen`, `frontend`, `backend`, `resolvers` … */
  readonly kind: string;
  readonly name: string;
  readonly line: number;
  /** The rest of the section's first line, after its name. */
  readonly words: readonly string[];
  readonly lines: readonly HaproxyLine[];
}

export interface HaproxyText {
  readonly sections: readonly HaproxySection[];
  /** The lines of the section `global`. */
  readonly global: readonly HaproxyLine[];
  readonly faults: readonly { readonly line: number; readonly text: string }[];
}

const SECTIONS = new Set(
  [
    'acme backend cache crt-store defaults fcgi-app frontend global http-errors listen',
    'log-forward log-profile mailers peers program resolvers ring traces userlist',
  ].flatMap((line) => line.split(' ')),
);

/** `env`: for `"${NAME}"` inside double quotes. */
export function readHaproxyText(text: string, env: Environment): HaproxyText {
  const sections: (HaproxySection & { readonly lines: HaproxyLine[] })[] = [];
  const faults: { line: number; text: string }[] = [];
  for (const [i, raw] of text
    .replace(/^\uFEFF/, '')
    .split(/\r\n|\n|\r/)
    .entries()) {
    const line = i + 1;
    const { words, faults: found } = wordsOf(raw, env);
    faults.push(...found.map((fault) => ({ line, text: fault })));
    const [first, ...rest] = words;
    if (first === undefined) continue;
    if (first.startsWith('.')) {
      if (/^\.(?:if|elif|else)/.test(first)) {
        faults.push({ line, text: `${first} is not evaluated: the lines of every branch count` });
      }
      continue;
    }
    if (SECTIONS.has(first)) {
      const [name = '', ...others] = rest;
      sections.push({ kind: first, name, line, words: others, lines: [] });
      continue;
    }
    const section = sections.at(-1);
    if (section === undefined) faults.push({ line, text: `${first} stands before the first section and is ignored` });
    else section.lines.push({ line, words });
  }
  return { sections, global: sections.find(({ kind }) => kind === 'global')?.lines ?? [], faults };
}

/** Splits one line as HAProxy does: quotes, backslashes, comments, and variables inside double quotes. */
function wordsOf(text: string, env: Environment): Readonly<Record<'words' | 'faults', readonly string[]>> {
  const words: string[] = [];
  const faults: string[] = [];
  let word: string | undefined;
  let quote = '';
  for (let i = 0; i < text.length; i++) {
    const sign = text.charAt(i);
    if (sign === '\\' && quote !== "'" && i + 1 < text.length) {
      i += 1;
      word = (word ?? '') + text.charAt(i);
    } else if (quote !== '' && sign === quote) {
      quote = '';
    } else if (quote === '' && (sign === '"' || sign === "'")) {
      quote = sign;
      word ??= '';
    } else if (quote === '"' && sign === '$') {
      const { value, length, fault } = variableAt(text, i, env);
      if (fault !== undefined) faults.push(fault);
      word = (word ?? '') + value;
      i += length - 1;
    } else if (quote === '' && sign === '#') {
      break;
    } else if (quote === '' && /\s/.test(sign)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else {
      word = (word ?? '') + sign;
    }
  }
  if (word !== undefined) words.push(word);
  if (quote !== '') faults.push(`the quote ${quote} has no end`);
  return { words, faults };
}

/** `$NAME`, `${NAME}`, `${NAME-default}` at `start`. An unset variable stays as it is written. */
function variableAt(
  text: string,
  start: number,
  env: Environment,
): { readonly value: string; readonly length: number; readonly fault?: string } {
  const match = /^\$(?:\{([A-Za-z_]\w*)(?:-([^}]*))?(?:\[\*\])?\}|([A-Za-z_]\w*))/.exec(text.slice(start));
  if (match === null) return { value: '$', length: 1 };
  const [whole, braced, usual, plain] = match;
  const name = braced ?? plain ?? '';
  const value = env[name] ?? usual;
  if (value !== undefined) return { value, length: whole.length };
  return { value: whole, length: whole.length, fault: `the environment variable ${name} is not set here` };
}
