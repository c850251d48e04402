// The status page in light, in dark and at phone width, when all is well and in an outage: axe finds nothing serious,
// nothing is wider than the screen, and screenshots are kept for people.
import { afterEach, expect, it } from 'vitest';
import { seriousFindings } from '../../support/browser/accessibility.ts';
import { describeInBrowser } from '../../support/browser/chromium.ts';
import { replicasOf } from '../../support/clusters/pool-members.ts';
import { headerShows, pageLab, showsWaiting } from '../../support/browser/page-lab.ts';
import { PHONE } from '../../support/browser/tab.ts';
import type { Tab } from '../../support/browser/tab.ts';
import { HeldSession } from '../../support/applications/held-session.ts';

const LOOKS = [
  ['light', { colorScheme: 'light' }],
  ['dark', { colorScheme: 'dark' }],
  ['phone-light', { ...PHONE, colorScheme: 'light' }],
  ['phone-dark', { ...PHONE, colorScheme: 'dark' }],
] as const;

describeInBrowser('the look of the status page', () => {
  // The clients wait until every look was judged, however slow the machine is.
  const lab = pageLab({
    hold: { client_timeout: '10min', outage_timeout: '10min' },
    pools: { read: { balance: 'latency' } },
  });
  let killed: string | undefined;
  let waiting: readonly Promise<HeldSession | undefined>[] = [];
  afterEach(async () => {
    await lab.cluster.setStoreOutage(false);
    if (killed !== undefined) await lab.cluster.start(killed);
    killed = undefined;
    for (const session of await Promise.all(waiting)) await session?.close();
  });

  it('a replica that answers slowly has its share of new sessions beside its name', async () => {
    const [slow] = await replicasOf(lab.cluster);
    const { page } = await lab.open();
    const sessions = await HeldSession.openMany(8, await lab.pointsman.port('read'), lab.cluster.app);
    const query = `select case when inet_server_port() = ${slow.port} then pg_sleep(0.1) end`;
    const facts = page.getByRole('region', { name: 'Latency' }).locator('div', { hasText: slow.name });
    const sentence = facts.getByText(/^replies in \d+ ms, logins in .*; new sessions at [\d.]+ % of its weight$/);
    await lab.pointsman.waitFor('the sentence on the page', async () => {
      await Promise.all(sessions.map(({ client }) => client.query(query)));
      return sentence.isVisible();
    });
    await Promise.all(sessions.map((session) => session.close()));
  });

  it.each(LOOKS)('in %s, with the dialogs of the operations', async (name, options) => {
    const tab = await lab.open(options);
    await judge(tab, name);
    for (const button of ['Switch over …', 'Drain …', 'Probe now …']) {
      await tab.page.getByRole('button', { name: button }).click();
      await tab.page.getByRole('dialog').waitFor();
      await judge(tab, `${name}-${button.replace(/\W+/g, '-').toLowerCase()}dialog`);
      await tab.page.keyboard.press('Escape');
    }
  });

  it('in an outage with waiting clients, and when a member is missing', async () => {
    const { cluster, pointsman } = lab;
    const tabs = await Promise.all(LOOKS.map(async ([name, options]) => [name, await lab.open(options)] as const));
    // Nobody is promoted, so the outage lasts until the store is back.
    killed = (await cluster.leader()).name;
    await cluster.setStoreOutage(true);
    await cluster.kill(killed);
    const port = await pointsman.port('write');
    waiting = Array.from({ length: 3 }, () => HeldSession.open(port, cluster.app).catch(() => undefined));
    for (const [name, tab] of tabs) {
      await headerShows(tab.page, 'primary', 'none');
      await showsWaiting(tab.page, 3);
      await judge(tab, `${name}-outage`);
    }
  });

  it('by keyboard: everything that can be pressed is in the order of Tab', async () => {
    const { page } = await lab.open();
    await page.evaluate(`focused = new Set(); addEventListener('focusin', ({ target }) => focused.add(target))`);
    const pressable = `[...document.querySelectorAll('button:enabled, a[href], summary, select, input')]`;
    const all = await page.evaluate<number>(`${pressable}.length`);
    expect(all).toBeGreaterThan(2);
    for (let presses = 0; presses < all + 20; presses += 1) await page.keyboard.press('Tab');
    // Another link to the same place is as good.
    const isReached = '(one) => [...focused].some((other) => other === one || (one.href && one.href === other.href))';
    const missed = `${pressable}.filter((one) => one.checkVisibility() && !(${isReached})(one))`;
    expect(await page.evaluate(`${missed}.map((one) => one.outerHTML)`)).toEqual([]);
  });
});

async function judge({ page, screenshot }: Tab, name: string): Promise<void> {
  await screenshot(name);
  expect(await seriousFindings(page), name).toEqual([]);
  const excess = await page.evaluate<number>(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  );
  expect(excess, `${name} is wider than the screen`).toBe(0);
}
