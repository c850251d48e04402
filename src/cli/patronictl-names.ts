// Options by the names that patronictl gives them, for operators who know those. Pure.

const OWN_NAMES: ReadonlyMap<string, string> = new Map([
  ['--candidate', '--to'],
  ['--scheduled', '--at'],
  ['--force', '--yes'],
]);

/** `--force` of `cluster reinit` is one of its own. */
export function withOwnNames(argv: readonly string[]): readonly string[] {
  const [command, subcommand = ''] = argv;
  const isMeant = command === 'switchover' || (command === 'cluster' && !subcommand.startsWith('reinit'));
  if (!isMeant) return argv;
  return argv.map((word) => {
    const [, name = '', value = ''] = /^(--[a-z]+)(=.*)?$/.exec(word) ?? [];
    const own = OWN_NAMES.get(name);
    return own === undefined ? word : `${own}${value}`;
  });
}
