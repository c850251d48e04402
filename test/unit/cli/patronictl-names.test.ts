// The names that patronictl gives to options are understood where both programs have the command.
import { expect, test } from 'vitest';
import { withOwnNames } from '../../../src/cli/patronictl-names.ts';

test.each([
  ['cluster switchover --candidate pg-2 --force', 'cluster switchover --to pg-2 --yes'],
  ['cluster failover --candidate=pg-2', 'cluster failover --to=pg-2'],
  ['cluster restart pg-2 --scheduled now+1h --force', 'cluster restart pg-2 --at now+1h --yes'],
  ['switchover --candidate pg-2', 'switchover --to pg-2'],
  ['cluster reinit pg-2 --force', 'cluster reinit pg-2 --force'],
  ['init --from x --force', 'init --from x --force'],
])('%s', (given, own) => {
  expect(withOwnNames(given.split(' '))).toEqual(own.split(' '));
});
