// The words that can come next on a command line, from the tree of commands.
import type { Command } from 'commander';

/** Names of the running Pointsman, by the argument that takes one. Asked only if needed; undefined: no answer. */
export type CompletionNames = ReadonlyMap<string, () => Promise<readonly string[] | undefined>>;

export interface NextWord {
  readonly value: string;
  readonly description: string;
}

/** `files`: the shell completes a path. */
export type Candidates = readonly NextWord[] | 'files';

/** The arguments and options of a command line without its last word, which is being typed. */
interface WordPosition {
  readonly command: Command;
  /** The option whose value is being typed. */
  readonly option: Command['options'][number] | undefined;
  /** Arguments before it. */
  readonly index: number;
}

/** `words`: after `pointsman`; the last one is being typed and may be empty. */
export async function candidatesFor(
  program: Command,
  words: readonly string[],
  names: CompletionNames,
): Promise<Candidates> {
  const { before, typed } = beingTyped(words);
  const position = positionAfter(program, before);
  if (position.option !== undefined) return startingWith(typed, await valuesOf(position, names));
  const [flag = '', value] = typed.split(/=(.*)/s);
  if (typed.startsWith('-') && value !== undefined) {
    const { command, index } = position;
    const option = optionOf(command, flag);
    const values = startingWith(value, await valuesOf({ command, option, index }, names));
    return values === 'files' ? values : values.map((one) => ({ ...one, value: `${flag}=${one.value}` }));
  }
  if (typed.startsWith('-')) return startingWith(typed, optionsOf(position.command));
  return startingWith(typed, await argumentsOf(program, position, targetsFor(typed, names)));
}

/** `app@` before the names of branches, once that is typed. */
function targetsFor(typed: string, names: CompletionNames): CompletionNames {
  const before = typed.slice(0, typed.lastIndexOf('@') + 1);
  return new Map(names).set('branch', async () => (await names.get('branch')?.())?.map((name) => before + name));
}

/** bash splits at `=`, at `:` and at `@`, other shells do not. Of `app@pr` bash completes `pr` alone. */
function beingTyped(words: readonly string[]): { readonly before: readonly string[]; readonly typed: string } {
  if (words.at(-1) === '@') return { before: joined(words.slice(0, -2)), typed: '' };
  if (words.at(-2) === '@') return { before: joined(words.slice(0, -3)), typed: words.at(-1) ?? '' };
  if (words.at(-1) === '=') return { before: joined(words.slice(0, -1)), typed: '' };
  const end = words.at(-2) === '=' ? -2 : -1;
  return { before: joined(words.slice(0, end)), typed: words.at(-1) ?? '' };
}

/** Whole words again: `127.0.0.1:8432`, `--pool=write`. */
export function joined(words: readonly string[]): readonly string[] {
  return words.length === 0
    ? []
    : words
        .join('\n')
        .replaceAll(/\n([:=])\n/g, '$1')
        .split('\n');
}

function positionAfter(program: Command, words: readonly string[]): WordPosition {
  let command = program;
  let index = 0;
  let option: WordPosition['option'];
  for (const word of words) {
    const next: Command | undefined = index === 0 ? command.commands.find((one) => one.name() === word) : undefined;
    if (option !== undefined) option = undefined;
    else if (word.startsWith('-')) option = takesValue(optionOf(command, word));
    else if (next === undefined) index += 1;
    else command = next;
  }
  return { command, option, index };
}

function takesValue(option: WordPosition['option']): WordPosition['option'] {
  return option !== undefined && (option.required || option.optional) ? option : undefined;
}

function optionOf(command: Command, flag: string): WordPosition['option'] {
  return command.options.find(({ short, long }) => flag === short || flag === long);
}

function optionsOf(command: Command): readonly NextWord[] {
  const help = command.createHelp();
  return help.visibleOptions(command).flatMap(({ long, description }) => (long ? [{ value: long, description }] : []));
}

async function valuesOf({ option }: WordPosition, names: CompletionNames): Promise<Candidates> {
  if (option === undefined) return [];
  if (option.argChoices !== undefined) return plain(option.argChoices);
  const [, placeholder = ''] = /[<[]([a-z-]+)/.exec(option.flags) ?? [];
  return namedBy(option.long === '--pool' ? 'pool' : placeholder, names);
}

async function argumentsOf(
  program: Command,
  { command, index }: WordPosition,
  names: CompletionNames,
): Promise<Candidates> {
  const own = index === 0 ? commandsOf(command) : [];
  const argument = command.registeredArguments[index] ?? command.registeredArguments.findLast((one) => one.variadic);
  if (argument === undefined) return own;
  if (argument.argChoices !== undefined) return [...own, ...plain(argument.argChoices)];
  if (argument.name() === 'command') return commandsOf(program);
  const values = await namedBy(argument.name(), names);
  return values === 'files' ? values : [...own, ...values];
}

function commandsOf(command: Command): readonly NextWord[] {
  const help = command.createHelp();
  return help.visibleCommands(command).map((one) => ({ value: one.name(), description: one.description() }));
}

/** By the name of the argument or of the option's value. */
async function namedBy(placeholder: string, names: CompletionNames): Promise<Candidates> {
  if (placeholder === 'file' || placeholder === 'directory') return 'files';
  return plain((await names.get(placeholder)?.()) ?? []);
}

function plain(values: readonly string[]): readonly NextWord[] {
  return values.map((value) => ({ value, description: '' }));
}

function startingWith(typed: string, candidates: Candidates): Candidates {
  return candidates === 'files' ? candidates : candidates.filter(({ value }) => value.startsWith(typed));
}
