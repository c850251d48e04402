// One tab. Its faults are collected: requests to another host, errors in the console, and with them violations of the
// content security policy.
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';

const ARTIFACTS = fileURLToPath(new URL('../../artifacts/page/', import.meta.url));

const DESKTOP = { viewport: { width: 1280, height: 900 } };
export const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

export interface TabOptions extends BrowserContextOptions {
  /** An error in the console that the test itself provokes. */
  readonly provoked?: RegExp;
}

export interface Tab {
  readonly page: Page;
  /** One sentence each. */
  readonly faults: readonly string[];
  /** Method and path of each request, in their order: POST /refresh */
  readonly requests: readonly string[];
  /** Into test/artifacts/page, for people. */
  readonly screenshot: (name: string) => Promise<void>;
  readonly close: () => Promise<void>;
}

export async function openTab(browser: Browser, url: string, options: TabOptions = {}): Promise<Tab> {
  const { provoked, ...more } = options;
  const context = await browser.newContext({ reducedMotion: 'reduce', ...DESKTOP, ...more });
  const page = await context.newPage();
  const faults: string[] = [];
  const requests: string[] = [];
  const { host } = new URL(url);
  page.on('request', (request) => {
    const asked = new URL(request.url());
    requests.push(`${request.method()} ${asked.pathname}`);
    if (asked.protocol !== 'data:' && asked.host !== host) faults.push(`a request to ${asked.host}`);
  });
  page.on('console', (message) => {
    const text = message.text();
    if (message.type() === 'error' && provoked?.test(text) !== true) faults.push(`in the console: ${text}`);
  });
  page.on('pageerror', ({ message }) => faults.push(`an exception: ${message}`));
  await page.goto(url);
  return {
    page,
    faults,
    requests,
    screenshot: async (name) => {
      mkdirSync(ARTIFACTS, { recursive: true });
      await page.screenshot({ path: `${ARTIFACTS}${name}.png`, fullPage: true });
    },
    close: () => context.close(),
  };
}
