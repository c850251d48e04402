// Switchover and failover with a living leader, at once and scheduled, and their entries in the history.
import { expect } from 'vitest';
import type { Area, Contract } from '../../../support/contract/contract.ts';
import { list, parse, record } from '../../../support/contract/questions.ts';
import type { ContractRun } from '../../../support/contract/run.ts';

async function history(on: ContractRun): Promise<readonly (readonly unknown[])[]> {
  return list(parse(await on.ask(await on.leader(), '/history'))).map(list);
}

async function planned(on: ContractRun): Promise<unknown> {
  return (await on.cluster())['scheduled_switchover'];
}

export const switchovers: Area = {
  name: 'switchover and failover',
  define: (contract) => {
    defineRefusals(contract);
    defineImmediate(contract);
    defineSchedule(contract);
    defineHistory(contract);
  },
};

function defineRefusals(contract: Contract): void {
  contract(
    ['error.412.reason', 'failover.with-leader', 'version.master.switchover', 'version.master.failover'],
    'a wrong leader or an unknown candidate: 412 with the reason',
    async (on) => {
      const [leader, [first, second]] = [await on.leader(), await on.replicas()];
      for (const operation of [
        { kind: 'switchover', leader: first.name, candidate: second.name },
        { kind: 'switchover', leader: leader.name, candidate: 'nobody' },
        { kind: 'switchover', leader: 'master', candidate: first.name },
        { kind: 'failover', candidate: 'nobody' },
        { kind: 'failover', candidate: 'master' },
        { kind: 'failover', leader: first.name, candidate: second.name },
      ] as const) {
        const result = await on.perform(operation);
        expect(result, JSON.stringify(operation)).toMatchObject({ kind: 'precondition', status: 412 });
        expect(result).toMatchObject({ reason: expect.stringMatching(/.{10}/) });
      }
      expect((await on.leader()).name).toBe(leader.name);
    },
  );
}

function defineImmediate(contract: Contract): void {
  contract(
    ['switchover.candidate', 'transition.roles', 'error.200'],
    'POST /switchover to a candidate: 200, and the roles change',
    async (on) => {
      const [old, [candidate]] = [await on.leader(), await on.replicas()];
      const timeline = Number((await on.node(old))['timeline']);
      const result = await on.perform({ kind: 'switchover', leader: old.name, candidate: candidate.name });
      expect(result.status, result.text).toBe(200);
      expect((await on.leader()).name).toBe(candidate.name);
      await on.target.waitUntilHealthy();
      expect((await on.node(old))['role']).toBe('replica');
      expect((await on.entry(candidate.name))['role']).toBe('leader');
      expect((await on.node(candidate))['timeline']).toBe(timeline + 1);
      expect([await on.status(old, '/primary'), await on.status(old, '/replica')]).toEqual([503, 200]);
    },
  );

  contract('switchover.no-candidate', 'POST /switchover without a candidate: another member leads', async (on) => {
    const [old, [asked]] = [await on.leader(), await on.replicas()];
    // Any member accepts the request.
    expect((await on.perform({ kind: 'switchover', leader: old.name }, asked)).status).toBe(200);
    expect((await on.leader()).name).not.toBe(old.name);
  });

  contract('failover.with-leader', 'POST /failover with the leader works as a switchover', async (on) => {
    const [old, [candidate]] = [await on.leader(), await on.replicas()];
    const result = await on.perform({ kind: 'failover', leader: old.name, candidate: candidate.name });
    expect(result.status, result.text).toBe(200);
    expect((await on.leader()).name).toBe(candidate.name);
  });
}

function defineSchedule(contract: Contract): void {
  contract(
    [
      'transition.switchover.scheduled',
      'transition.switchover.deleted',
      'switchover.scheduled_at',
      'delete-switchover',
      'cluster.scheduled_switchover',
      'error.202',
      'error.412.nothing-scheduled',
    ],
    'scheduled_at: 202, shown as {at, from, to}; DELETE /switchover cancels it, a second DELETE finds none',
    async (on) => {
      const [leader, [candidate]] = [await on.leader(), await on.replicas()];
      const at = new Date(Date.now() + 3_600_000).toISOString();
      const plan = { from: leader.name, to: candidate.name };
      const fields = { leader: leader.name, candidate: candidate.name, scheduled_at: at };
      expect((await on.perform({ kind: 'switchover', ...fields })).status).toBe(202);
      const shown = record(await on.until('shown', () => planned(on)));
      // The report may come from another member, which learns of it a moment later.
      const reported = await on.until('reported', async () => {
        const report = await (await on.control()).report();
        return report.kind === 'read' ? (report.value.scheduled_switchover ?? undefined) : undefined;
      });
      expect(reported).toMatchObject({ ...plan, at: shown['at'] });
      expect(Object.keys(shown).toSorted()).toEqual(['at', 'from', 'to']);
      expect(shown).toMatchObject(plan);
      expect(String(shown['at'])).toMatch(/(Z|[+-]\d\d:\d\d)$/);
      expect(Date.parse(String(shown['at']))).toBe(Date.parse(at));
      expect((await on.perform({ kind: 'cancel_switchover' }, candidate)).status).toBe(200);
      await on.until('gone', async () => (await planned(on)) === undefined);
      const again = await on.perform({ kind: 'cancel_switchover' });
      expect(again.status).toBe(on.expected('error.412.nothing-scheduled', 412));
      expect((await on.leader()).name).toBe(leader.name);
    },
  );

  contract('transition.switchover.executed', 'a scheduled switchover takes place at its time', async (on) => {
    const [leader, [, candidate]] = [await on.leader(), await on.replicas()];
    const atMs = Date.now() + 4000;
    const scheduledAt = new Date(atMs).toISOString();
    const fields = { leader: leader.name, candidate: candidate.name, scheduled_at: scheduledAt };
    expect((await on.perform({ kind: 'switchover', ...fields })).status).toBe(202);
    await on.until('the candidate leads', async () => (await on.status(candidate, '/primary')) === 200);
    expect(Date.now()).toBeGreaterThanOrEqual(atMs);
    await on.until('no schedule', async () => (await planned(on)) === undefined);
  });
}

function defineHistory(contract: Contract): void {
  contract(
    ['read./history', 'history.array', 'history.timeline', 'history.lsn', 'history.reason', 'history.timestamp'],
    'one entry for each ended timeline: [timeline, LSN, reason, timestamp]',
    async (on) => {
      const leader = await on.leader();
      const timeline = Number((await on.node(leader))['timeline']);
      const entries = await on.until('history up to now', async () => {
        const found = await history(on);
        return found.at(-1)?.[0] === timeline - 1 && (found.at(-1)?.length ?? 0) > 3 && found;
      });
      expect(entries.map(([ended]) => ended)).toEqual(Array.from({ length: timeline - 1 }, (_, index) => index + 1));
      const positions = entries.map(([, lsn]) => Number(lsn));
      expect(positions).toEqual(positions.toSorted((a, b) => a - b));
      for (const [, lsn, reason, timestamp] of entries) {
        expect(Number.isSafeInteger(lsn)).toBe(true);
        expect(typeof reason).toBe('string');
        expect(String(timestamp)).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/);
      }
      for (const member of on.target.members()) {
        const same = async () => list(parse(await on.ask(member, '/history'))).length === entries.length;
        await on.until(`${member.name} tells the same`, same);
      }
    },
  );

  contract('history.leader', 'position 5, if the version has it: the new leader', async (on) => {
    const leader = await on.leader();
    const last = await on.until('the last entry', async () =>
      (await history(on)).findLast((entry) => entry.length === 5),
    );
    expect(last[4]).toBe(leader.name);
  });
}
