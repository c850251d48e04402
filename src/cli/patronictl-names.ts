// Options by the names that patronictl gives them, for operators who know those. Pure.
import type { Command } from 'commander';

export const OWN_NAMES: ReadonlyMap<string, string> = new Map([
  ['--candidate', '--to'],
  ['--scheduled', '--at'],
  ['--force', '--yes'],
]);

/** Only where the command has no option of this name, and has the own one: `--force` of `cluster reinit` stays. */
export function withOwnNames(argv: readonly string[], program: Command): readonly string[] {
  if (argv[0] !== 'switchover' && argv[0] !== 'cluster') return argv;
  const command = commandOf(argv, program);
  const has = (name: string): boolean => command.options.some(({ long }) => long === name);
  return argv.map((word) => {
    const [, name = '', value = ''] = /^(--[a-z]+)(=.*)?$/.exec(word) ?? [];
    const own = OWN_NAMES.get(name);
    return own === undefined || has(name) || !has(own) ? word : `${own}${value}`;
  });
}

function commandOf([word, ...others]: readonly string[], within: Command): Command {
  const found = within.commands.find((one) => one.name() === word || one.aliases().includes(word ?? ''));
  return found === undefined ? within : commandOf(others, found);
}
