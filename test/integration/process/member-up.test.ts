// A member that was down at the start of Pointsman is as visible to an alert as one that fell silent later.
import { afterEach, expect, test } from 'vitest';
import { FakeMember } from '../../support/fakes/fake-member.ts';
import { startPointsman } from '../../support/processes/pointsman-process.ts';
import type { PointsmanProcess } from '../../support/processes/pointsman-process.ts';

let pointsman: PointsmanProcess;
let primary: FakeMember;

afterEach(async () => {
  await pointsman.stop();
  await primary.stop();
});

test('a member that never answered has a series, with the value for down', async () => {
  primary = await FakeMember.start('pg-1', { role: 'primary' });
  const dead = await FakeMember.start('pg-2', {}, { host: '127.0.0.2', port: primary.address.port });
  await dead.stop();
  primary.set({ cluster: { scope: 'demo', members: [primary.entry(), dead.entry()] } });
  pointsman = await startPointsman({
    cluster: { seeds: [primary.url] },
    listeners: [{ address: '127.0.0.1:0', pool: 'write' }],
    admin: { address: '127.0.0.1:0' },
  });
  await pointsman.waitUntilReady();
  expect(pointsman.lines.filter((line) => line['event'] === 'passthrough_limits')).toHaveLength(1);
  expect(await pointsman.metric('pointsman_member_up{member="pg-1"}')).toBe(1);
  expect(await pointsman.metric('pointsman_member_up{member="pg-2"}')).toBe(0);
  expect((await pointsman.admin('/metrics')).text).toContain('pointsman_member_up{member="pg-2",scope="demo"} 0');
});
