// PATCH and PUT of the dynamic configuration, reload, and invalid requests.
import { expect } from 'vitest';
import type { Area } from '../../../support/contract/contract.ts';
import { parse, record } from '../../../support/contract/questions.ts';

export const configuration: Area = {
  name: 'configuration and invalid requests',
  define: (contract) => {
    contract(
      ['patch-config.partial', 'patch-config.answer', 'patch-config.null', 'error.200'],
      'PATCH /config: only keys in the body change, null removes a key, the answer has all of them',
      async (on) => {
        const before = await on.config();
        const after = await on.patch({ primary_start_timeout: 250, postgresql: { parameters: { work_mem: '6MB' } } });
        const postgresql = record(before['postgresql']);
        const parameters = { ...record(postgresql['parameters']), work_mem: '6MB' };
        const whole = { ...before, primary_start_timeout: 250, postgresql: { ...postgresql, parameters } };
        expect(after).toEqual(whole);
        const cleared = await on.patch({ primary_start_timeout: null, postgresql: { parameters: { work_mem: null } } });
        expect(cleared).toEqual(before);
      },
    );

    contract(
      'put-config.replaces',
      'PUT /config: replaces everything; keys that the body lacks are lost',
      async (on) => {
        const before = await on.config();
        await on.patch({ primary_start_timeout: 250, postgresql: { parameters: { work_mem: '6MB' } } });
        const { maximum_lag_on_failover: _, ...without } = before;
        try {
          const config = { ...without, loop_wait: 2 };
          expect(await on.perform({ kind: 'replace_config', config })).toMatchObject({ status: 200, config });
          await on.settled({ ...without, loop_wait: 2 });
        } finally {
          expect((await on.perform({ kind: 'replace_config', config: before })).status).toBe(200);
        }
        await on.settled(before);
      },
    );

    contract('reload.rereads', 'POST /reload makes the member read its own configuration again', async (on) => {
      const [first] = await on.replicas();
      const started = await on.sql(first, 'select pg_postmaster_start_time()::text');
      await on.target.configureTags(first.name, { zone: 'eu-3' });
      expect((await on.node(first))['tags'] ?? {}).toEqual({});
      const reload = { kind: 'reload', member: first.name } as const;
      expect((await on.perform(reload)).status).toBeLessThan(300);
      await on.until('the new tag', async () => (await on.status(first, '/replica?tag_zone=eu-3')) === 200);
      await on.target.configureTags(first.name, {});
      await on.perform(reload);
      await on.until('no tag', async () => (await on.status(first, '/replica?tag_zone=eu-3')) === 503);
      expect(await on.sql(first, 'select pg_postmaster_start_time()::text')).toBe(started);
    });

    contract('error.400.format', '400 for a body that is not JSON or not an object', async (on) => {
      const leader = await on.leader();
      const before = await on.config();
      for (const text of ['{"ttl": ', 'ttl=30', '[1]', '"ttl"']) {
        for (const [method, path] of [
          ['PATCH', '/config'],
          ['PUT', '/config'],
          ['POST', '/switchover'],
          ['POST', '/failover'],
          ['POST', '/restart'],
        ] as const) {
          expect(`${path} ${(await on.ask(leader, path, { method, text })).status}`, text).toBe(`${path} 400`);
        }
      }
      expect(await on.config()).toEqual(before);
    });

    contract(
      ['error.400.values', 'switchover.leader', 'failover.candidate'],
      '400 for values that are none, or missing',
      async (on) => {
        const [leader, [first]] = [await on.leader(), await on.replicas()];
        const later = '2099-01-01T00:00:00';
        const bodies: readonly (readonly [string, object])[] = [
          ['/switchover', { candidate: first.name }],
          ['/switchover', { leader: leader.name, candidate: first.name, scheduled_at: later }],
          ['/failover', { leader: leader.name }],
          ['/restart', { role: 'king' }],
          ['/restart', { postgres_version: 'newest' }],
          ['/restart', { timeout: 'soon' }],
          ['/restart', { timeout: -1 }],
          ['/restart', { schedule: later }],
        ];
        for (const [path, body] of bodies) {
          const answer = await on.ask(leader, path, { method: 'POST', body });
          expect(`${answer.status} ${path}`, JSON.stringify(body)).toBe(`400 ${path}`);
        }
        const restart = { kind: 'restart', member: first.name, postgres_version: 'newest' } as const;
        expect(await on.perform(restart)).toMatchObject({ kind: 'invalid', status: 400 });
        expect((await on.leader()).name).toBe(leader.name);
      },
    );

    contract('error.400.types', 'PATCH /config: 400 for values of the wrong type', async (on) => {
      const before = await on.config();
      const { maximum_lag_on_failover: bytes, postgresql } = before;
      const { use_pg_rewind: isRewound } = record(postgresql);
      const bodies = [
        { maximum_lag_on_failover: Number(bytes) + 0.5 },
        { postgresql: { use_pg_rewind: 'yes' } },
        { postgresql: { parameters: { work_mem: 5000 } } },
      ];
      const statuses = [];
      for (const changes of bodies) statuses.push((await on.perform({ kind: 'patch_config', changes })).status);
      const undo = { use_pg_rewind: isRewound ?? null, parameters: { work_mem: null } };
      await on.patch({ maximum_lag_on_failover: bytes ?? null, postgresql: undo });
      expect(statuses).toEqual(on.expected('error.400.types', [400, 400, 400]));
      expect(await on.config()).toEqual(before);
    });

    contract(
      ['error.400.timestamp', 'error.400.past'],
      '400 for a timestamp that is none, or has gone by',
      async (on) => {
        const leader = await on.leader();
        const statuses = async (time: string) => {
          const switchover = { method: 'POST', body: { leader: leader.name, scheduled_at: time } };
          const restart = { method: 'POST', body: { schedule: time } };
          const answers = [await on.ask(leader, '/switchover', switchover), await on.ask(leader, '/restart', restart)];
          return answers.map(({ status }) => status);
        };
        expect(await statuses('presently')).toEqual(on.expected('error.400.timestamp', [400, 400]));
        expect(await statuses('2020-02-02T20:20:20+00:00')).toEqual(on.expected('error.400.past', [400, 400]));
      },
    );

    contract('read./config', 'every member returns the configuration that was put', async (on) => {
      const before = await on.config();
      await on.withConfig({ retry_timeout: Number(before['retry_timeout']) + 1 }, async () => {
        for (const member of on.target.members()) {
          const tells = async () => record(parse(await on.ask(member, '/config')))['retry_timeout'];
          await on.until(member.name, async () => (await tells()) === Number(before['retry_timeout']) + 1);
        }
      });
    });
  },
};
