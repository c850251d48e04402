// The notifications for systemd, as its socket receives them.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createSystemd } from '../../../src/systemd/notify.ts';
import type { Systemd } from '../../../src/systemd/notify.ts';
import { FakeCluster } from '../../support/labs/app-lab.ts';
import { ManualClock } from '../../support/waiting/manual-clock.ts';
import { NotifySocket } from '../../support/processes/notify-socket.ts';
import { findExecutable } from '../../support/patroni/availability.ts';
import { startPointsman } from '../../support/processes/pointsman-process.ts';
import type { PointsmanProcess } from '../../support/processes/pointsman-process.ts';
import { describeUnless } from '../../support/runner/unless-missing.ts';
import { until } from '../../support/waiting/until.ts';

const missing =
  findExecutable('systemd-notify') === undefined || findExecutable('python3') === undefined
    ? 'systemd-notify and python3: apt-get install systemd python3'
    : undefined;

describeUnless(missing, 'notifications for systemd', () => {
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
      shutdown: { grace: '0s', drain_timeout: '0s' },
      log: { format: 'json' },
    };
    pointsman = await startPointsman(config, { NOTIFY_SOCKET: manager.path, ...env });
    return pointsman;
  }

  test('ready with the first snapshot, reloading, ready again, stopping', async () => {
    const running = await started(cluster.section());
    expect(await manager.heard('READY=1')).toBe('READY=1\nSTATUS=Serving');
    expect((await running.admin('/readyz')).status).toBe(200);
    running.signal('SIGHUP');
    // The clock of systemd's check: microseconds since the machine's start.
    const at = /^RELOADING=1\nMONOTONIC_USEC=(\d+)\n/.exec(await manager.heard('RELOADING=1'))?.[1];
    expect(Math.abs(Number(at) - Number(process.hrtime.bigint() / 1000n))).toBeLessThan(60e6);
    await running.waitFor(
      'ready again',
      () => manager.messages.filter((one) => one.startsWith('READY=1')).length === 2,
    );
    running.signal('SIGTERM');
    await manager.heard('STOPPING=1');
    expect(await running.exited()).toBe(0);
    // These are all calls of systemd-notify.
    expect(manager.messages.map((message) => message.split('=')[0])).toEqual([
      'READY',
      'RELOADING',
      'READY',
      'STOPPING',
    ]);
  });

  test('ready when the workers listen, if there are several: from the main process alone', async () => {
    const running = await started(cluster.section(), { POINTSMAN_WORKERS: '2' });
    await running.waitFor('ready', () => manager.messages.includes('READY=1\nSTATUS=Serving'));
    expect(await running.metric('pointsman_workers')).toBe(2);
    running.signal('SIGTERM');
    expect(await running.exited()).toBe(0);
    await manager.heard('STOPPING=1');
    expect(manager.messages).toHaveLength(2);
  }, 60_000);

  test('without the program systemd-notify the log reports it, with a remedy', async () => {
    await started(cluster.section(), { PATH: '/nonexistent' });
    const line = await pointsman?.waitFor('the warning', () =>
      pointsman?.lines.find(({ event }) => event === 'systemd_notify_failed'),
    );
    expect(line?.['msg']).toBe(
      'systemd notification failed (not needed with Type=exec): the program systemd-notify is missing',
    );
  });

  describe('as time passes,', () => {
    let clock: ManualClock;
    let systemd: Systemd;
    let troubles: string[];

    function create(env: Readonly<Record<string, string>> = {}): void {
      clock = new ManualClock();
      troubles = [];
      const environment = { PATH: process.env['PATH'], NOTIFY_SOCKET: manager.path, ...env };
      const onTrouble = (why: string): unknown => troubles.push(why);
      systemd = createSystemd({ env: environment, pid: process.pid, clock, sockets: [], onTrouble });
    }

    // Before the manager closes: a message that is still on the way fails after that.
    afterEach(() => {
      expect(troubles).toEqual([]);
      systemd.end();
    });

    test('alive, twice in the allowed time', async () => {
      create({ WATCHDOG_USEC: '100000' });
      systemd.started(new Promise(() => {}));
      await clock.advance(200);
      await until('the beats', () => manager.messages.length === 5);
      expect(new Set(manager.messages)).toEqual(new Set(['WATCHDOG=1']));
    });

    test('ready after 10 s, too, when no member answers; once', async () => {
      create();
      const complete = Promise.withResolvers<void>();
      systemd.started(complete.promise);
      await clock.advance(9_999);
      expect(clock.pending()).toBe(1);
      await clock.advance(1);
      expect(await manager.heard('READY=1')).toContain('the first round of probes is not complete');
      complete.resolve();
      await clock.advance(0);
      systemd.stopping();
      await manager.heard('STOPPING=1');
      expect(manager.messages).toHaveLength(2);
    });
  });
});
