// The help of every command, as a person reads it.
import type { CommandLine } from './commands.ts';
import { commandLines } from './commands.ts';

export interface CommandHelp {
  /** `sandbox kill`; empty for the program itself. */
  readonly command: string;
  readonly help: string;
  /** The command lines below `Example:` or `Examples:`, as written. */
  readonly examples: readonly string[];
}

/** `helpOf` prints the help of the command in its arguments. Sub-commands follow their command. */
export async function allHelp(
  helpOf: (command: readonly string[]) => Promise<string>,
  command: readonly string[] = [],
): Promise<readonly CommandHelp[]> {
  const help = await helpOf(command);
  const [, listed = ''] = /^Commands:\n((?: .*\n?)*)/m.exec(help) ?? [];
  const names = [...listed.matchAll(/^ {2}([a-z][a-z-]*)/gm)].map(([, name = '']) => name);
  const below: CommandHelp[] = [];
  // Commander's own `help` of a group prints the help of that group.
  const own = command.length === 0 ? names : names.filter((name) => name !== 'help');
  for (const name of own) below.push(...(await allHelp(helpOf, [...command, name])));
  return [{ command: command.join(' '), help, examples: examplesIn(help) }, ...below];
}

function examplesIn(help: string): readonly string[] {
  const [, listed = ''] = /^Examples?:\n((?: {2}.*\n?)*)/m.exec(help) ?? [];
  return listed.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.trim()]));
}

/** The calls of Pointsman in an example, which may be a pipe or write to a file. */
export function callsIn(example: string): readonly CommandLine[] {
  const block = { file: '--help', line: 0, language: 'sh', text: example.replace(/ >+ \S+$/, ''), isRecorded: false };
  return commandLines(block).filter(({ words }) => words[0] === 'pointsman');
}
