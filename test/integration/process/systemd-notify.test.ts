// What systemd is told of the process, as it hears it.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FakeCluster, freeAddresses } from '../../support/app-lab.ts';
import { addressText } from '../../../src/core/member.ts';
import { NotifySocket } from '../../support/notify-socket.ts';
import { findExecutable } from '../../support/patroni/availability.ts';
import { startPointsman } from '../../support/pointsman-process.ts';
import type { PointsmanProcess } from '../../support/pointsman-process.ts';
import { describeUnless } from '../../support/unless-missing.ts';

const missing =
  findExecutable('systemd-notify') === undefined || findExecutable('python3') === undefined
    ? 'systemd-notify and python3: apt-get install systemd python3'
    : undefined;

describeUnless(missing, 'systemd is told', () => {
  let cluster: FakeCluster;
  let manager: NotifySocket;
  let pointsman: PointsmanProcess | undefined;

  beforeEach(async () => {
    cluster = await FakeCluster.start();
    manager = await NotifySocket.open();
  });

  afterEach(async () => {
    await pointsman?.stop();
    await manager.close();
    await cluster.stop();
  });

  async function started(section: unknown, env: NodeJS.ProcessEnv = {}): Promise<PointsmanProcess> {
    const config = {
      cluster: section,
      listeners: [{ address: '127.0.0.1:0', pool: 'write' }],
      admin: { address: '127.0.0.1:0' },
      shutdown: { grace: '0s', drain: '0s' },
      log: { format: 'json' },
    };
    pointsman = await startPointsman(config, { NOTIFY_SOCKET: manager.path, ...env });
    return pointsman;
  }

  test('ready with the first picture, reloading, ready again, stopping', async () => {
    const running = await started(cluster.section());
    expect(await manager.heard('READY=1')).toBe('READY=1\nSTATUS=Serves');
    expect((await running.admin('/readyz')).status).toBe(200);
    running.signal('SIGHUP');
    // Of the clock that systemd compares it with, microseconds since the machine's start.
    const at = /^RELOADING=1\nMONOTONIC_USEC=(\d+)\n/.exec(await manager.heard('RELOADING=1'))?.[1];
    expect(Math.abs(Number(at) - Number(process.hrtime.bigint() / 1000n))).toBeLessThan(60e6);
    await running.waitFor(
      'ready again',
      () => manager.messages.filter((one) => one.startsWith('READY=1')).length === 2,
    );
    running.signal('SIGTERM');
    await manager.heard('STOPPING=1');
    expect(await running.exited()).toBe(0);
    // systemd-notify is not asked for anything else.
    expect(manager.messages.map((message) => message.split('=')[0])).toEqual([
      'READY',
      'RELOADING',
      'READY',
      'STOPPING',
    ]);
  });

  test('alive, twice in the time that is allowed', async () => {
    await started(cluster.section(), { WATCHDOG_USEC: '100000' });
    await pointsman?.waitFor('five beats', () => manager.messages.filter((one) => one === 'WATCHDOG=1').length >= 5);
  });

  test('ready after a while, too, when nobody of the cluster answers', async () => {
    const [nobody] = await freeAddresses(1);
    if (nobody === undefined) throw new Error('no free address');
    await started({ seeds: [`http://${addressText(nobody)}`] });
    await pointsman?.waitFor('the message', () => manager.messages.some((one) => one.startsWith('READY=1')));
    expect(await manager.heard('READY=1')).toContain('no complete picture');
  });

  test('without the program that tells it, the log says so and what else can be done', async () => {
    await started(cluster.section(), { PATH: '/nonexistent' });
    const line = await pointsman?.waitFor('the warning', () =>
      pointsman?.lines.find(({ event }) => event === 'systemd-not-told'),
    );
    expect(line?.['msg']).toBe(
      'systemd is not told how we are (with Type=exec it need not be): there is no program systemd-notify',
    );
  });
});
