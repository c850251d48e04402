// A sandbox with Pointsman before it, and its status page in tabs.
import { afterEach, expect } from 'vitest';
import type { ConfigOverrides } from '../processes/pointsman-config.ts';
import { clusterWithPointsman } from '../clusters/cluster-with-pointsman.ts';
import type { ClusterUnderTest } from '../patroni/cluster-under-test.ts';
import type { ClusterWithPointsman } from '../clusters/cluster-with-pointsman.ts';
import { SandboxCluster } from '../clusters/sandbox-cluster.ts';
import type { Page } from 'playwright-core';
import { inBrowser } from './chromium.ts';
import { openTab } from './tab.ts';
import type { Tab, TabOptions } from './tab.ts';
import { ADMIN_TOKEN } from '../values/canaries.ts';

/** The settings of the Pointsman whose page is shown. */
export const SETTINGS: ConfigOverrides = { admin: { address: '127.0.0.1:0', token: ADMIN_TOKEN } };

interface WhereTo {
  /** Default: that of Pointsman's admin listener. */
  readonly port?: number;
}

export interface PageLab extends ClusterWithPointsman<SandboxCluster> {
  /** The status page, live. Closed after the test, which fails when the tab has a fault. */
  readonly open: (options?: TabOptions & WhereTo) => Promise<Tab>;
}

/** Call inside describe. A function is called once, when the cluster is there. */
export function pageLab(
  more: ConfigOverrides | ((cluster: ClusterUnderTest) => Promise<ConfigOverrides>) = {},
): PageLab {
  const running = inBrowser();
  const lab = clusterWithPointsman(() => SandboxCluster.start(), {
    pointsman: async (cluster) => ({ ...SETTINGS, ...(typeof more === 'function' ? await more(cluster) : more) }),
  });
  const tabs: Tab[] = [];
  afterEach(async () => {
    const closed = tabs.splice(0);
    for (const tab of closed) await tab.close();
    expect(closed.flatMap(({ faults }) => faults)).toEqual([]);
  });
  return {
    get cluster() {
      return lab.cluster;
    },
    get pointsman() {
      return lab.pointsman;
    },
    async open({ port, ...options } = {}) {
      await lab.pointsman.waitUntilReady();
      const url = `http://127.0.0.1:${port ?? (await lab.pointsman.port('admin'))}/`;
      const tab = await openTab(running.browser, url, options);
      tabs.push(tab);
      await connection(tab.page, 'live');
      return tab;
    },
  };
}

/** Resolves when the page says so. */
export async function connection(page: Page, state: 'live' | 'lost'): Promise<void> {
  const text = state === 'live' ? /^live$/ : /^connection lost$/;
  await page.locator('.header').getByRole('status').filter({ hasText: text }).waitFor({ timeout: 30_000 });
}

/** The name and the value of a fact in the header, one behind the other. */
export const FACT = '.header-facts > div';

/** Resolves when the header has it: `primary`, `pg-2`. */
export async function headerShows(page: Page, name: string, value: string): Promise<void> {
  const fact = page.locator(FACT, { hasText: new RegExp(`^${name}\\s*${value}$`) });
  await fact.waitFor({ timeout: 30_000 });
}

/** Resolves when the page has so many waiting clients, and says when the first of them is refused. */
export async function showsWaiting(page: Page, clients: number): Promise<void> {
  const panel = page.getByRole('region', { name: 'Waiting clients' });
  await panel.getByText(new RegExp(`^${clients}$`)).waitFor({ timeout: 30_000 });
  await panel.getByText(/is refused in/).waitFor({ timeout: 30_000 });
}
