// The last hour on the status page: charts that go on live, and the band of spans with their lines of text.
import { afterEach, beforeEach, expect, it } from 'vitest';
import { seriousFindings } from '../../support/browser/accessibility.ts';
import { describeInBrowser } from '../../support/browser/chromium.ts';
import { pageLab } from '../../support/browser/page-lab.ts';
import type { PageLab } from '../../support/browser/page-lab.ts';
import { until } from '../../support/waiting/until.ts';

const SIZES = { wide: { width: 1280, height: 900 }, phone: { width: 390, height: 844 } } as const;

describeInBrowser('the last hour on the status page', () => {
  const lab = pageLab();
  let killed: string;
  beforeEach(async () => {
    await lab.cluster.waitUntilHealthy();
    killed = (await lab.cluster.leader()).name;
  });
  afterEach(async () => {
    await lab.cluster.start(killed);
  });

  it('a failover is a span with a line of text, which can be copied; charts have their values in words', async () => {
    const { page, screenshot } = await lab.open({ permissions: ['clipboard-read', 'clipboard-write'] });
    await lab.cluster.kill(killed);
    const line = page.locator('.band-lines li', { hasText: 'No route' }).first();
    await line.waitFor({ timeout: 30_000 });
    await page
      .locator('.band-lines li', { hasText: /No route.*no route for/ })
      .first()
      .waitFor({ timeout: 60_000 });
    expect(await page.locator('.band-bar.band-no_route').count()).toBeGreaterThan(0);

    const sessions = page.locator('.chart-place[aria-label^="Sessions of the last hour. write: "]');
    await sessions.waitFor({ timeout: 30_000 });
    expect(await sessions.getAttribute('aria-label')).toMatch(/write: \d+ now, .*read: \d+ now/);
    const lag = page.locator('.chart-place[aria-label^="Replication lag of the last hour."]');
    await lag.waitFor({ timeout: 30_000 });
    expect(await page.locator('.chart canvas').count()).toBe(3);

    await page.getByRole('button', { name: 'Copy as text' }).click();
    await page.getByText('Copied.').waitFor();
    const copied = String(await page.evaluate('navigator.clipboard.readText()'));
    expect(copied).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d to .* UTC: pool write: no route for .*$/m);
    await screenshot('last-hour-after-a-kill');
  });

  it.each([
    ['dark', 'wide'],
    ['light', 'wide'],
    ['dark', 'phone'],
    ['light', 'phone'],
  ] as const)('%s, %s: the charts have their lines, and axe finds nothing serious', async (colorScheme, size) => {
    const { page, screenshot } = await lab.open({ colorScheme, viewport: SIZES[size] });
    await page.locator('.chart canvas').nth(2).waitFor({ timeout: 30_000 });
    await until('pixels', async () => await hasLine(page), 30_000);
    expect(await seriousFindings(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    await screenshot(`last-hour-${colorScheme}-${size}`);
  });
});

/** The first chart has pixels of its first line's colour. */
async function hasLine(page: Awaited<ReturnType<PageLab['open']>>['page']): Promise<boolean> {
  const found = await page.evaluate(`(() => {
    const canvas = document.querySelector('.chart canvas');
    const colour = getComputedStyle(document.querySelector('.chart-legend li')).color.match(/\\d+/g).map(Number);
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    for (let at = 0; at < data.length; at += 4) {
      const isSame = [0, 1, 2].every((part) => Math.abs(data[at + part] - colour[part]) < 12);
      if (isSame && data[at + 3] > 200) return true;
    }
    return false;
  })()`);
  return found === true;
}
