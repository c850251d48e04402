// The names that patronictl gives to options are understood by the commands that have such an option, and by no other.
import { expect, test } from 'vitest';
import { CliCommand } from '../../../src/cli/cli-command.ts';
import { describeCluster } from '../../../src/cli/cluster/cluster-commands.ts';
import { OWN_NAMES, withOwnNames } from '../../../src/cli/patronictl-names.ts';
import { describeSwitchover } from '../../../src/cli/switchover/switchover-commands.ts';
import { cliParts } from '../../support/fakes/cli-parts.ts';

const program = new CliCommand('pointsman');
const io = { env: {}, stdout: () => {}, stderr: () => {} };
describeCluster(program, io, cliParts().cluster);
describeSwitchover(program, io);

test.each([
  ['cluster switchover --candidate pg-2 --force', 'cluster switchover --to pg-2 --yes'],
  ['cluster failover --candidate=pg-2', 'cluster failover --to=pg-2'],
  ['cluster restart pg-2 --scheduled now+1h --force', 'cluster restart pg-2 --at now+1h --yes'],
  ['cluster config set ttl=30 --force', 'cluster config set ttl=30 --yes'],
  ['cluster cancel switchover --force', 'cluster cancel switchover --yes'],
  ['switchover --candidate pg-2 --force', 'switchover --to pg-2 --yes'],
  ['switchover --scheduled now+1h', 'switchover --scheduled now+1h'],
  ['cluster failover --scheduled now+1h', 'cluster failover --scheduled now+1h'],
  ['cluster list --force', 'cluster list --force'],
  ['cluster reinit pg-2 --force', 'cluster reinit pg-2 --force'],
  ['cluster reinitialize pg-2 --force', 'cluster reinitialize pg-2 --force'],
  ['init --from x --force', 'init --from x --force'],
])('%s', (given, own) => {
  expect(withOwnNames(given.split(' '), program)).toEqual(own.split(' '));
});

test('each entry has a command that knows the own name, and none knows both but for a meaning of its own', () => {
  const commands = (one: CliCommand): readonly CliCommand[] => [one, ...one.commands.flatMap(commands)];
  const all = commands(program);
  const knowing = (name: string) => all.filter(({ options }) => options.some(({ long }) => long === name));
  for (const [name, own] of OWN_NAMES) {
    expect(knowing(own).length, own).toBeGreaterThan(0);
    expect(knowing(name).map((one) => one.name())).toEqual(name === '--force' ? ['reinit'] : []);
  }
});
