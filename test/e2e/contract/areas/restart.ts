// POST /restart: at once, with conditions, scheduled; and the pending_restart flag.
import { expect } from 'vitest';
import type { MemberAddress } from '../../../support/patroni/member.ts';
import type { Area, Contract } from '../../../support/contract/contract.ts';
import { parse, record } from '../../../support/contract/questions.ts';
import type { ContractRun } from '../../../support/contract/run.ts';
import type { RestartConditions } from '../../../../src/patroni/write-requests.ts';

/** Set from the start: for a parameter that is removed from its file PostgreSQL itself keeps the pending mark. */
const PARAMETER = 'max_connections';

/** Fields of the node status document that come from a query. */
const QUERIED = ['postmaster_start_time', 'server_version', 'timeline', 'xlog'];

export function startedAt(on: ContractRun, member: MemberAddress): Promise<unknown> {
  return on.sql(member, 'select pg_postmaster_start_time()::text');
}

/** In any order of the members: the rules for that are the subject of the area `limits`. */
export async function restart(
  on: ContractRun,
  { name }: MemberAddress,
  conditions: RestartConditions = {},
): Promise<number> {
  return (await on.perform({ kind: 'restart', member: name, any_order: true, ...conditions })).status;
}

/** A body that the client does not send. */
async function rawRestart(on: ContractRun, member: MemberAddress, body: object): Promise<number> {
  return (await on.ask(member, '/restart', { method: 'POST', body })).status;
}

/** Reports whether a restart with these conditions took place, and its status. */
function attempt(on: ContractRun, member: MemberAddress, conditions?: RestartConditions) {
  return observed(on, member, () => restart(on, member, conditions));
}

async function observed(on: ContractRun, member: MemberAddress, send: () => Promise<number>) {
  const before = await startedAt(on, member);
  const status = await send();
  const after = await on.until(`${member.name} takes SQL`, () => startedAt(on, member));
  return { status, restarted: after !== before };
}

export async function isPending(on: ContractRun, member: MemberAddress): Promise<boolean> {
  return (await on.node(member))['pending_restart'] === true;
}

export const restarts: Area = {
  name: 'restart',
  define: (contract) => {
    contract('node.down', 'a restarting replica keeps the fields that it had before', async (on) => {
      const [first] = await on.replicas();
      const missing = new Set<string>();
      const over = new AbortController();
      let looks = 0;
      const restarted = restart(on, first).finally(() => over.abort());
      while (!over.signal.aborted) {
        // The body of a health check, because Patroni answers /patroni only after a second try.
        const document = record(parse(await on.ask(first, '/health')));
        if (document['state'] === 'running') continue;
        looks += 1;
        for (const field of QUERIED) if (!(field in document)) missing.add(field);
      }
      expect(await restarted).toBe(200);
      expect(looks).toBeGreaterThan(0);
      expect([...missing].toSorted()).toEqual(on.expected('node.down', []));
      await on.target.waitUntilHealthy();
    });

    contract(
      'restart.immediate',
      'without a body the receiving node alone restarts at once and keeps its role',
      async (on) => {
        const [leader, [first]] = [await on.leader(), await on.replicas()];
        const before = await startedAt(on, first);
        expect(await attempt(on, leader)).toEqual({ status: 200, restarted: true });
        expect((await on.leader()).name).toBe(leader.name);
        expect(await startedAt(on, first)).toBe(before);
        expect((await on.node(leader))['postmaster_start_time']).toBeDefined();
      },
    );

    definePending(contract);
    defineConditions(contract);
    defineSchedule(contract);
  },
};

function definePending(contract: Contract): void {
  contract(
    [
      'transition.pending-restart.set',
      'transition.pending-restart.cleared',
      'service.restart-is-the-operators',
      'reload.stays-pending',
      'error.200.reload',
      'restart.restart_pending',
      'restart.to-all-members',
    ],
    'a parameter that needs a restart marks every node; the marked node restarts on demand, the others do not',
    async (on) => {
      const members = on.target.members();
      const [first] = await on.replicas();
      const value = () => on.sql(first, `select current_setting('${PARAMETER}')`);
      const original = await value();
      const starts = () => Promise.all(members.map((member) => startedAt(on, member)));
      const before = await starts();
      await on.withConfig({ postgresql: { parameters: { [PARAMETER]: '204' } } }, async () => {
        for (const member of members) await on.until(`${member.name} is marked`, () => isPending(on, member));
        expect(await starts()).toEqual(before);
        expect(await value()).toBe(original);

        const reload = await on.perform({ kind: 'reload', member: first.name });
        expect(reload.status).toBe(on.expected('error.200.reload', 200));
        expect(await isPending(on, first)).toBe(true);
        expect(await starts()).toEqual(before);

        expect(await attempt(on, first, { restart_pending: true })).toEqual({ status: 200, restarted: true });
        await on.until('the flag is cleared', async () => !(await isPending(on, first)));
        expect(await value()).toBe('204');
      });
      // With the old value back, the restarted member is the only one that needs a restart.
      for (const member of members) {
        await on.until(
          `${member.name} marked anew`,
          async () => (await isPending(on, member)) === (member.name === first.name),
        );
      }
      const outcomes = await Promise.all(members.map((member) => attempt(on, member, { restart_pending: true })));
      expect(outcomes.map(({ restarted }) => restarted)).toEqual(members.map(({ name }) => name === first.name));
      expect(await value()).toBe(original);
    },
  );

  contract('restart.restart_pending.false', 'restart_pending false is not a condition', async (on) => {
    const [first] = await on.replicas();
    const contractual = { status: 200, restarted: true };
    const send = () => rawRestart(on, first, { restart_pending: false });
    expect(await observed(on, first, send)).toEqual(on.expected('restart.restart_pending.false', contractual));
  });
}

function defineConditions(contract: Contract): void {
  contract(
    ['restart.restart_pending', 'restart.role', 'restart.postgres_version', 'error.412.restart'],
    'a condition that does not match: 412 with the reason, and no restart',
    async (on) => {
      const [leader, [first]] = [await on.leader(), await on.replicas()];
      const own = String(await on.sql(first, "select split_part(current_setting('server_version'), ' ', 1)"));
      const status = on.expected('error.412.restart', 412);
      for (const [member, body] of [
        [leader, { role: 'replica' }],
        [first, { restart_pending: true }],
        [first, { postgres_version: '9.6.0' }],
        [first, { postgres_version: own }],
        [first, { role: 'replica', postgres_version: '99.0', restart_pending: true }],
      ] as const) {
        expect(await attempt(on, member, body), JSON.stringify(body)).toEqual({ status, restarted: false });
      }
      const result = await on.perform({ kind: 'restart', member: leader.name, role: 'replica' });
      expect(result).toMatchObject({ reason: expect.stringMatching(/.{10}/) });
    },
  );

  contract(
    ['restart.to-all-members', 'restart.role', 'restart.postgres_version', 'restart.timeout'],
    'one request to all members: the matching members restart',
    async (on) => {
      const [leader, replicas] = [await on.leader(), await on.replicas()];
      const body = { role: 'replica', postgres_version: '99.0', timeout: 60 } as const;
      const outcomes = await Promise.all([leader, ...replicas].map((member) => attempt(on, member, body)));
      expect(outcomes.map(({ restarted }) => restarted)).toEqual([false, true, true]);
      expect(outcomes.slice(1).map(({ status }) => status)).toEqual([200, 200]);
    },
  );

  contract('version.primary.restart', 'role primary restarts the primary', async (on) => {
    const outcome = await attempt(on, await on.leader(), { role: 'primary' });
    expect(outcome).toEqual(on.expected('version.primary.restart', { status: 200, restarted: true }));
  });

  contract('version.master.restart', 'role master is not accepted', async (on) => {
    const [first] = await on.replicas();
    const outcome = await observed(on, first, () => rawRestart(on, first, { role: 'master' }));
    expect(outcome).toEqual(on.expected('version.master.restart', { status: 400, restarted: false }));
  });
}

function defineSchedule(contract: Contract): void {
  contract(
    [
      'transition.restart.scheduled',
      'transition.restart.cancelled',
      'restart.schedule',
      'delete-restart',
      'error.202',
      'error.412.already-scheduled',
      'error.412.nothing-scheduled',
    ],
    'schedule: 202; a second one is refused; DELETE /restart cancels it once',
    async (on) => {
      const [first] = await on.replicas();
      const before = await startedAt(on, first);
      const schedule = new Date(Date.now() + 3_600_000).toISOString();
      const planned = async () => record((await on.node(first))['scheduled_restart'] ?? {})['schedule'];
      expect(await restart(on, first, { schedule })).toBe(202);
      expect(Date.parse(String(await planned()))).toBe(Date.parse(schedule));
      expect(await restart(on, first, { schedule })).toBe(on.expected('error.412.already-scheduled', 412));
      const cancel = { kind: 'cancel_restart', member: first.name } as const;
      const report = await (await on.control()).report();
      const shown = report.kind === 'read' ? report.value.members.find(({ name }) => name === first.name) : undefined;
      expect(Date.parse(shown?.scheduled_restart ?? '')).toBe(Date.parse(schedule));
      expect((await on.perform(cancel)).status).toBe(200);
      expect(await planned()).toBeUndefined();
      expect((await on.perform(cancel)).status).toBe(on.expected('error.412.nothing-scheduled', 412));
      expect(await startedAt(on, first)).toBe(before);
    },
  );

  contract('transition.restart.executed', 'a scheduled restart takes place at its time', async (on) => {
    const [first] = await on.replicas();
    const before = await startedAt(on, first);
    const at = Date.now() + 3000;
    // The same instant with another offset than UTC.
    const local = `${new Date(at + 7_200_000).toISOString().replace('Z', '')}+02:00`;
    expect(await restart(on, first, { schedule: local, role: 'replica' })).toBe(202);
    const after = await on.until('restarted', async () => {
      const now = await startedAt(on, first);
      return now !== before && String(now);
    });
    expect(Date.parse(after.replace(/([+-]\d\d)$/, '$1:00'))).toBeGreaterThanOrEqual(at - 1000);
    await on.until('no schedule', async () => !('scheduled_restart' in (await on.node(first))));
  });
}
