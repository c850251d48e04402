// The command lines of the documents' shell blocks, as words.
import type { Block } from './markdown.ts';

export interface CommandLine {
  readonly file: string;
  readonly line: number;
  /** `POINTSMAN_…=…` before the command. */
  readonly env: Readonly<Record<string, string>>;
  readonly words: readonly string[];
}

/** One for each command of the block; of a session on a terminal those behind `$ `. */
export function commandLines({ file, line, language, text }: Block): readonly CommandLine[] {
  const lines = text.replaceAll(/\\\n\s*/g, ' ').split('\n');
  const typed = language === 'console' ? lines.flatMap((one) => (one.startsWith('$ ') ? [one.slice(2)] : [])) : lines;
  return typed.flatMap((one) => commandsIn(one).map((words) => ({ file, line, ...withEnvironment(words) })));
}

/**
 * The words of each command in a line of shell, separated by `&&`, `|` and `;`: without quotes, comments, and the file
 * that gets the output.
 */
export function commandsIn(line: string): readonly (readonly string[])[] {
  const commands: string[][] = [[]];
  let before = '';
  for (const [word, bare] of line.matchAll(/((?:'[^']*'|"(?:\$\([^)]*\)|[^"])*"|[^\s'"])+)/g)) {
    if (word.startsWith('#')) break;
    if (['&&', '|', ';'].includes(word)) commands.push([]);
    else if (before !== '>' && word !== '>')
      commands.at(-1)?.push((bare ?? '').replaceAll(/'([^']*)'|"([^"]*)"/g, '$1$2'));
    before = word;
  }
  return commands.filter((words) => words.length > 0);
}

function withEnvironment(words: readonly string[]): Pick<CommandLine, 'env' | 'words'> {
  const first = words.findIndex((word) => !/^[A-Z_0-9]+=/.test(word));
  const assigned = first === -1 ? words : words.slice(0, first);
  const env = Object.fromEntries(assigned.map((word) => [word.split('=')[0] ?? '', word.replace(/^[^=]*=/, '')]));
  return { env, words: first === -1 ? [] : words.slice(first) };
}

/** The arguments of `pointsman`, however it is called; undefined where it is another program. */
export function pointsmanArguments(words: readonly string[]): readonly string[] | undefined {
  const line = words[0] === 'time' ? words.slice(1) : words;
  const [program, second] = line;
  if (program === 'pointsman') return line.slice(1);
  if (program === 'npx' && second === 'node') return pointsmanArguments(line.slice(1));
  if (program === 'node' && second === 'dist/main.js') return line.slice(2);
  const separator = line.indexOf('--');
  if (program !== 'npm' || second !== 'run' || separator === -1) return undefined;
  const script = line[separator - 1];
  if (script === 'pointsman') return line.slice(separator + 1);
  return script === 'sandbox' ? ['sandbox', ...line.slice(separator + 1)] : undefined;
}
