// The branches on the status page: the list of the sandbox's console, and a real session on a real branch.
import { Client } from 'pg';
import type { Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { BranchPlace, SandboxMember } from '../../../src/sandbox/sandbox.ts';
import { seriousFindings } from '../../support/browser/accessibility.ts';
import { describeInBrowser, inBrowser } from '../../support/browser/chromium.ts';
import { connection } from '../../support/browser/page-lab.ts';
import { openTab, PHONE } from '../../support/browser/tab.ts';
import type { Tab } from '../../support/browser/tab.ts';
import { startPointsman } from '../../support/processes/pointsman-process.ts';
import type { PointsmanProcess } from '../../support/processes/pointsman-process.ts';
import { BranchesLab } from '../../support/sandbox/branches-lab.ts';

const LOOKS = [
  ['light', { colorScheme: 'light' }],
  ['dark', { colorScheme: 'dark' }],
  ['phone', { ...PHONE, colorScheme: 'light' }],
] as const;

describeInBrowser('the branches on the status page', () => {
  const running = inBrowser();
  let lab: BranchesLab;
  let pointsman: PointsmanProcess;
  let client: Client;
  const tabs: Tab[] = [];

  beforeAll(async () => {
    lab = await BranchesLab.start();
    for (const name of ['pr-1', 'feat/login-2']) {
      await lab.console('POST', { branch: { name }, endpoints: [{ type: 'read_write' }] });
    }
    pointsman = await startPointsman(configFor(lab));
    await pointsman.waitUntilReady();
    client = new Client({ ...lab.sandbox.app, ...(await address('write')), database: 'app@feat-login-2' });
    client.on('error', () => {});
    await client.connect();
  }, 180_000);

  afterEach(async () => {
    const closed = tabs.splice(0);
    for (const tab of closed) await tab.close();
    expect(closed.flatMap(({ faults }) => faults)).toEqual([]);
  });

  afterAll(async () => {
    await client.end().catch(() => {});
    await pointsman.stop();
    await lab.sandbox.stop();
  }, 60_000);

  async function address(pool: string): Promise<{ readonly host: string; readonly port: number }> {
    return { host: '127.0.0.1', port: await pointsman.port(pool) };
  }

  async function open(options: Parameters<typeof openTab>[2] = {}): Promise<Tab> {
    const tab = await openTab(running.browser, `http://127.0.0.1:${await pointsman.port('admin')}/`, options);
    tabs.push(tab);
    await connection(tab.page, 'live');
    return tab;
  }

  it('the branches in use come first; each with its backend, and production with the reason against it', async () => {
    const { page } = await open();
    const panel = page.getByRole('region', { name: 'Branches', exact: true });
    await panel.getByText(/^3 branches, 1 session/).waitFor({ timeout: 30_000 });
    await rowOf(page, 'feat/login-2').waitFor({ timeout: 30_000 });
    const rows = await page.getByRole('region', { name: 'Table of branches' }).getByRole('row').allInnerTexts();
    const [, first = '', second = '', third = ''] = rows.map((row) => row.split(/\s+/).join(' '));
    expect(first).toMatch(/^feat\/login-2 main 1 127\.0\.0\.1:\d+$/);
    expect(second).toMatch(/^pr-1 main 0 127\.0\.0\.1:\d+$/);
    expect(third).toMatch(/^main – 0 not routed: it is a root/);
  });

  it('a session that ends leaves its row', async () => {
    const { page } = await open();
    const another = new Client({ ...lab.sandbox.app, ...(await address('write')), database: 'app@pr-1' });
    await another.connect();
    await rowOf(page, 'pr-1')
      .filter({ hasText: /main1127/ })
      .waitFor({ timeout: 30_000 });
    await another.end();
    await rowOf(page, 'pr-1')
      .filter({ hasText: /main0127/ })
      .waitFor({ timeout: 30_000 });
  });

  it.each(LOOKS)('the look in %s', async (name, options) => {
    const { page, screenshot } = await open(options);
    await rowOf(page, 'feat/login-2').waitFor({ timeout: 30_000 });
    await screenshot(`branches-${name}`);
    expect(await seriousFindings(page)).toEqual([]);
    const excess = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
    expect(await page.evaluate<number>(excess)).toBe(0);
  });
});

function rowOf(page: Page, name: string): Locator {
  return page.getByRole('region', { name: 'Table of branches' }).getByRole('row', { name });
}

/** Every branch of the sandbox has a port of its own, so each has an override. */
function configFor({ sandbox, branches }: BranchesLab): object {
  const { consoleUrl: url, project, apiKeyFile } = branches;
  return {
    cluster: {
      scope: sandbox.scope,
      seeds: sandbox.members.map(({ api }: SandboxMember) => api),
      allow: { ports: sandbox.members.map(({ port }) => port) },
    },
    listeners: ['write', 'read'].map((pool) => ({ address: '127.0.0.1:0', pool })),
    admin: { address: '127.0.0.1:0' },
    log: { level: 'debug', format: 'json' },
    branches: {
      source: 'console',
      refresh: '1s',
      console: { url, project, api_key_file: apiKeyFile },
      backends: { overrides: Object.fromEntries(branches.projectBranches().map(entryOf)) },
    },
  };
}

function entryOf({ id, host, port }: BranchPlace): readonly [id: string, address: string] {
  return [id, `${host}:${port}`];
}
