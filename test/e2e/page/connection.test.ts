// The status page and its connection: it says when it has lost Pointsman, and is correct afterwards, whatever happened
// meanwhile.
import { afterEach, beforeEach, expect, it } from 'vitest';
import { describeInBrowser } from '../../support/browser/chromium.ts';
import { connection, headerShows, pageLab, SETTINGS } from '../../support/browser/page-lab.ts';
import { configFor } from '../../support/processes/pointsman-config.ts';
import { startPointsman } from '../../support/processes/pointsman-process.ts';
import type { PointsmanProcess } from '../../support/processes/pointsman-process.ts';
import { startProxyOnTheWay } from '../../support/sockets/proxy-on-the-way.ts';
import type { ProxyOnTheWay } from '../../support/sockets/proxy-on-the-way.ts';

/** vitest alone would wait for one second. */
const PATIENCE = { timeout: 15_000 };

/** A lost connection shows in the console. */
const PROVOKED = { provoked: /net::ERR_/ };

describeInBrowser('the connection of the status page', () => {
  const lab = pageLab();
  const others: PointsmanProcess[] = [];
  let way: ProxyOnTheWay;
  beforeEach(async () => {
    await lab.cluster.waitUntilHealthy();
    way = await startProxyOnTheWay(await lab.pointsman.port('admin'));
  });
  afterEach(async () => {
    await way.stop();
    for (const one of others.splice(0)) await one.stop();
  });

  it.each(['cut', 'silent'] as const)('a proxy on the way is %s: the page says so and catches up', async (mode) => {
    const tab = await lab.open({ ...PROVOKED, port: way.port });
    way.set(mode);
    await connection(tab.page, 'lost');
    // Nothing on the page says that all is well now.
    await tab.page.getByText(/^Unknown since \d\d:\d\d:\d\d\.$/).waitFor();
    expect(await tab.page.title()).toMatch(/^no connection · /);
    expect(await tab.page.getByText('Nothing needs attention.').count()).toBe(0);
    await lab.cluster.switchover();
    const timeline = await timelineOf(lab.pointsman);
    await tab.screenshot(`connection-${mode}`);
    way.set('cut');
    way.set('passing');
    await connection(tab.page, 'live');
    await headerShows(tab.page, 'timeline', String(timeline));
  });

  it('without a connection no operation can be confirmed', async () => {
    const { page } = await lab.open({ ...PROVOKED, port: way.port });
    await page.getByRole('button', { name: 'Probe now …' }).click();
    const button = page.getByRole('dialog').getByRole('button', { name: 'Probe now' });
    await expect.poll(() => button.isEnabled(), PATIENCE).toBe(true);
    way.set('cut');
    await page.getByText('The connection to Pointsman is lost: these facts are old.').waitFor({ timeout: 30_000 });
    expect(await button.isEnabled()).toBe(false);
    way.set('passing');
    await connection(page, 'live');
    await expect.poll(() => button.isEnabled(), PATIENCE).toBe(true);
  });

  it('Pointsman stops and another one starts: the page says so, and shows the state of the new one', async () => {
    const { cluster } = lab;
    const first = await startPointsman(configFor(cluster, SETTINGS));
    others.push(first);
    await first.waitUntilReady();
    way.leadTo(await first.port('admin'));
    const { page } = await lab.open({ ...PROVOKED, port: way.port });
    await first.stop();
    await connection(page, 'lost');
    await cluster.switchover();
    const second = await startPointsman(configFor(cluster, SETTINGS));
    others.push(second);
    await second.waitUntilReady();
    way.leadTo(await second.port('admin'));
    await connection(page, 'live');
    await headerShows(page, 'timeline', String(await timelineOf(second)));
  });

  /** Once it has seen the end of the switchover. */
  async function timelineOf(pointsman: PointsmanProcess): Promise<number> {
    const { timeline } = (await lab.cluster.clusterDocument())?.members.find(({ role }) => role === 'leader') ?? {};
    return pointsman.waitFor(`timeline ${timeline}`, async () => {
      const { cluster } = JSON.parse((await pointsman.admin('/status')).text);
      return cluster.timeline === timeline && timeline;
    });
  }
});
