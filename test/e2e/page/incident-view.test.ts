// The view of an incident: from the list to the findings, from a finding to its event, and out of the page as a text
// and as a file. The incidents are prepared; the rest of the page is that of a real Pointsman.
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { seriousFindings } from '../../support/browser/accessibility.ts';
import { describeInBrowser } from '../../support/browser/chromium.ts';
import { pageLab } from '../../support/browser/page-lab.ts';
import type { Tab, TabOptions } from '../../support/browser/tab.ts';
import { AN_OUTAGE } from '../../support/values/an-outage.ts';

/** vitest alone would wait for one second. */
const PATIENCE = { timeout: 15_000 };

const LIST = {
  current_id: null,
  incidents: [
    {
      id: AN_OUTAGE.id,
      state: AN_OUTAGE.state,
      opened_at: AN_OUTAGE.opened_at,
      settled_at: AN_OUTAGE.settled_at,
      kinds: AN_OUTAGE.kinds,
      planned: AN_OUTAGE.planned,
      no_write_route_seconds: 3.9,
      summary: AN_OUTAGE.summary,
    },
  ],
};
const TEXT = 'Incident 2026-11-22-1\n\npg-1 was lost\n';

describeInBrowser('the view of an incident', () => {
  const lab = pageLab();

  async function open(options: TabOptions = {}): Promise<Tab> {
    const tab = await lab.open(options);
    const { page } = tab;
    await page.route('**/incidents', (route) => route.fulfill({ json: { api_version: 1, ...LIST } }));
    await page.route('**/incidents/*', (route) => {
      const isText = route.request().url().includes('format=text');
      return route.fulfill(
        isText ? { body: TEXT, contentType: 'text/plain' } : { json: { api_version: 1, ...AN_OUTAGE } },
      );
    });
    await page.reload();
    return tab;
  }

  it('shows the list, one incident by keyboard, an event of a finding, and the list again', async () => {
    const { page } = await open();
    const link = page.getByRole('link', { name: AN_OUTAGE.id });
    await link.focus();
    await page.keyboard.press('Enter');
    const heading = page.getByRole('heading', { name: `Incident ${AN_OUTAGE.id}` });
    await heading.waitFor();
    expect(await focused(page)).toContain(`Incident ${AN_OUTAGE.id}`);
    await page.getByText('Pool write had no route from 14:00:00.000').waitFor();
    await page.getByRole('group', { name: 'Events of: No route' }).getByRole('link', { name: 'r1-40' }).click();
    const row = page.locator('tr[aria-current="true"]');
    await row.waitFor();
    expect(await row.textContent()).toContain('pool write: open on pg-2');
    expect(await focused(page)).toContain('pool write: open on pg-2');
    await expect.poll(() => isInView(page, 'tr[aria-current="true"]'), PATIENCE).toBe(true);
    await page.getByRole('link', { name: 'Status' }).click();
    await link.waitFor();
    await expect.poll(() => focused(page), PATIENCE).toBe(AN_OUTAGE.id);
  });

  it('copies the text for a ticket, or shows it where the browser forbids that', async () => {
    const { page } = await open({ permissions: ['clipboard-read', 'clipboard-write'] });
    await page.goto(`${page.url()}#incident/${AN_OUTAGE.id}`);
    await page.getByRole('button', { name: 'Copy as text' }).click();
    await page.getByText('Copied.').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(TEXT);

    await page.evaluate('navigator.clipboard.writeText = () => Promise.reject(new Error("no"))');
    await page.evaluate('document.execCommand = () => false');
    await page.getByRole('button', { name: 'Copy as text' }).click();
    expect(await page.getByLabel('Text for a ticket').inputValue()).toBe(TEXT);
    await expect.poll(() => page.evaluate('getSelection().toString()'), PATIENCE).toContain('pg-1 was lost');
  });

  it('follows an address that changes before the page has drawn itself', async () => {
    const { page } = await open();
    const go = `location.hash = '#incident/${AN_OUTAGE.id}'`;
    await page.addInitScript(`addEventListener('DOMContentLoaded', () => { ${go}; }, { once: true })`);
    await page.reload();
    await page.getByRole('heading', { name: `Incident ${AN_OUTAGE.id}` }).waitFor();
  });

  it('offers the document as a file', async () => {
    const { page } = await open();
    await page.goto(`${page.url()}#incident/${AN_OUTAGE.id}`);
    const link = page.getByRole('link', { name: 'Download as JSON' });
    await link.waitFor();
    expect(await link.getAttribute('href')).toBe(`incidents/${AN_OUTAGE.id}`);
    const [download] = await Promise.all([page.waitForEvent('download'), link.click()]);
    expect(download.suggestedFilename()).toBe(`incident-${AN_OUTAGE.id}.json`);
  });

  it.each<[string, TabOptions]>([
    ['light', { colorScheme: 'light' }],
    ['dark', { colorScheme: 'dark' }],
    ['phone', { viewport: { width: 390, height: 844 }, colorScheme: 'dark' }],
  ])('nothing serious for axe, and nothing wider than the screen: %s', async (name, options) => {
    const tab = await open(options);
    const { page } = tab;
    await page.getByRole('link', { name: AN_OUTAGE.id }).waitFor();
    await tab.screenshot(`incident-list-${name}`);
    expect(await seriousFindings(page)).toEqual([]);
    await page.goto(`${page.url()}#incident/${AN_OUTAGE.id}/r1-5`);
    await page.locator('tr[aria-current="true"]').waitFor();
    await tab.screenshot(`incident-${name}`);
    expect(await seriousFindings(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  });
});

async function focused(page: Page): Promise<unknown> {
  return page.evaluate('document.activeElement.textContent');
}

async function isInView(page: Page, selector: string): Promise<boolean> {
  const box = await page.locator(selector).boundingBox();
  const height = page.viewportSize()?.height ?? 0;
  return box !== null && box.y >= 0 && box.y + box.height <= height;
}
