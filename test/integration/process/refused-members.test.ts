// A member that the document names and the trust rules do not let us use as it says: the operator reads which and why.
import { afterEach, expect, test } from 'vitest';
import { FakeMember } from '../../support/fake-member.ts';
import { startPointsman } from '../../support/pointsman-process.ts';
import type { PointsmanProcess } from '../../support/pointsman-process.ts';

let pointsman: PointsmanProcess;
let member: FakeMember;

afterEach(async () => {
  await pointsman.stop();
  await member.stop();
});

test('scenario 44: addresses that are not allowed are told and counted, with what would allow them', async () => {
  member = await FakeMember.start('pg-1', { role: 'primary' });
  const stranger = {
    ...member.entry({ host: '169.254.169.254', port: 22 }),
    name: 'pg-9',
    api_url: 'http://169.254.169.254:80/patroni',
  };
  member.set({ cluster: { scope: 'demo', members: [member.entry({ host: '127.0.0.1', port: 5433 }), stranger] } });
  pointsman = await startPointsman({
    cluster: { seeds: [member.url] },
    listeners: [{ address: '127.0.0.1:0', pool: 'write' }],
    admin: { address: '127.0.0.1:0' },
  });
  const told = await pointsman.waitFor('the warning', () =>
    pointsman.lines.find((line) => line['event'] === 'members-refused'),
  );
  expect(told).toMatchObject({ level: 'warn', msg: expect.stringContaining('5433') });
  expect(told['msg']).toMatch(/pg-1 .*5433.*cluster\.allow\.ports/);
  expect(told['msg']).toMatch(/pg-9 .*169\.254\.169\.254/);
  expect(await pointsman.metric('pointsman_refused_members')).toBe(2);
  await pointsman.waitUntilReady();
  expect((await pointsman.admin('/status')).text).toContain('PostgreSQL address unknown');
});
