// Scenario 41: evidence and bounds are counted by a clock that nobody sets.
import { expect, test, vi } from 'vitest';
import { AppLab, FakeCluster } from '../../support/app-lab.ts';
import { aStartup } from '../../support/packets.ts';
import { connectRaw } from '../../support/raw-client.ts';
import { until } from '../../support/until.ts';

test('scenario 41: the wall clock jumps an hour either way: nothing happens', async () => {
  const cluster = await FakeCluster.start();
  const lab = await AppLab.start({
    cluster: cluster.section(),
    listeners: [{ address: '127.0.0.1:0', pool: 'write' }],
    admin: { address: '127.0.0.1:0' },
  });
  const port = Number(/\d+$/.exec(String(lab.said('listening')[0]?.['address']))?.[0]);
  const session = await connectRaw({ host: '127.0.0.1', port });
  session.socket.write(aStartup());
  await until('the session', () => session.received().length > 0);
  const told = lab.lines.length;
  const now = vi.spyOn(Date, 'now');
  try {
    for (const hours of [1, -1]) {
      now.mockReturnValue(new Date().valueOf() + hours * 3_600_000);
      const asked = cluster.primary.api.requests.length;
      await until('two more rounds', () => cluster.primary.api.requests.length > asked + 1);
    }
    session.socket.write('still there');
    await until('the echo', () => session.received().includes('still there'));
    expect(lab.lines.slice(told)).toEqual([]);
  } finally {
    now.mockRestore();
    await lab.app.stop();
    await cluster.stop();
  }
});
