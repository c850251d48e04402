// The five parameters that must not be lower on a standby than on the primary. Every step changes all five and checks
// every member afterwards.
import { expect } from 'vitest';
import type { MemberAddress } from '../../../support/patroni/member.ts';
import type { Area } from '../../../support/contract/contract.ts';
import { restartOrder } from '../../../../src/cluster/restart-order.ts';
import { sorted } from '../../../support/contract/questions.ts';
import type { ContractRun } from '../../../support/contract/run.ts';
import { isPending, restart } from './restart.ts';

const NAMES = [
  'max_connections',
  'max_prepared_transactions',
  'max_locks_per_transaction',
  'max_wal_senders',
  'max_worker_processes',
] as const;

type Values = Readonly<Record<string, number>>;

async function values(on: ContractRun, member: MemberAddress): Promise<Values> {
  const fields = NAMES.map((name) => `current_setting('${name}')::int as ${name}`).join(', ');
  const [row] = await on.target.sql(member, `select ${fields}`);
  return Object.fromEntries(NAMES.map((name) => [name, Number(row?.[name])]));
}

function asStrings(numbers: Values): Record<string, string> {
  return Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, String(value)]));
}

async function restartAndLook(on: ContractRun, member: MemberAddress): Promise<Values> {
  expect(await restart(on, member)).toBe(200);
  await noStandbyIsLower(on);
  return values(on, member);
}

async function noStandbyIsLower(on: ContractRun): Promise<void> {
  await on.target.waitUntilHealthy();
  const primary = await values(on, await on.leader());
  for (const standby of await on.replicas()) {
    const found = await values(on, standby);
    for (const name of NAMES)
      expect(found[name], `${name} of ${standby.name}`).toBeGreaterThanOrEqual(primary[name] ?? 0);
  }
}

async function waitForMarks(on: ContractRun): Promise<void> {
  for (const member of on.target.members()) await on.until(`${member.name} is marked`, () => isPending(on, member));
}

/** The order that the client gives, and its refusal to restart `tooEarly` now. Older versions report no values. */
async function expectOrder(
  on: ContractRun,
  order: readonly (readonly string[])[],
  tooEarly: MemberAddress,
  why: string,
): Promise<void> {
  const report = await (await on.control()).report();
  if (report.kind === 'unreadable') throw new Error(report.why);
  if (report.value.members.some((member) => member.pending_restart_reason === undefined)) return;
  expect(restartOrder(report.value)?.map(({ members }) => sorted(members))).toEqual(order.map((one) => sorted(one)));
  const refused = await on.perform({ kind: 'restart', member: tooEarly.name });
  expect(refused).toMatchObject({ kind: 'refused', text: expect.stringContaining(why) });
}

export const limits: Area = {
  name: 'parameters that standbys must not have lower',
  define: (contract) => {
    contract(
      ['limit.increase', 'limit.decrease', 'limit.decrease-at-once', 'limit.standby-not-lower', 'limit.dynamic-only'],
      'raised on standbys first, lowered on the primary first; a standby that restarts too early keeps its value',
      async (on) => {
        const [leader, [first, second]] = [await on.leader(), await on.replicas()];
        const original = await values(on, leader);
        const increased = Object.fromEntries(NAMES.map((name) => [name, (original[name] ?? 0) + 4]));
        // A value in the server's own file, which the dynamic configuration overrides.
        await on.sql(leader, 'alter system set max_connections = 77');
        try {
          await on.withConfig({ postgresql: { parameters: asStrings(increased) } }, async () => {
            await waitForMarks(on);
            await expectOrder(on, [[first.name, second.name], [leader.name]], leader, 'restart the standbys first');
            expect(await restartAndLook(on, first)).toEqual(increased);
            expect(await values(on, leader)).toEqual(original);
            expect(await restartAndLook(on, second)).toEqual(increased);
            expect(await restartAndLook(on, leader)).toEqual(increased);
          });
        } finally {
          await on.sql(leader, 'alter system reset max_connections');
        }
        await waitForMarks(on);
        await expectOrder(on, [[leader.name], [first.name, second.name]], first, 'restart the primary first');
        // Simultaneous restarts would be a race. One standby that restarts before the primary always meets the rule.
        expect(await restartAndLook(on, first)).toEqual(increased);
        expect(await restartAndLook(on, leader)).toEqual(original);
        expect(await restartAndLook(on, second)).toEqual(original);
        await on.until(`${first.name} restarts with the new values`, async () => {
          expect(await restartAndLook(on, first)).toEqual(original);
          return true;
        });
      },
    );
  },
};
