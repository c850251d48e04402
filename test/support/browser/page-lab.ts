// A sandbox with Pointsman before it, and its status page in tabs.
import { afterEach, expect } from 'vitest';
import { clusterWithPointsman } from '../clusters/cluster-with-pointsman.ts';
import type { ClusterWithPointsman } from '../clusters/cluster-with-pointsman.ts';
import { SandboxCluster } from '../clusters/sandbox-cluster.ts';
import { inBrowser } from './chromium.ts';
import { openTab } from './tab.ts';
import type { Tab, TabOptions } from './tab.ts';

export const TOKEN = '0123456789abcdef-operator';

export interface PageLab extends ClusterWithPointsman<SandboxCluster> {
  /** The status page, live. Closed after the test, which fails when the tab has a fault. */
  readonly open: (options?: TabOptions) => Promise<Tab>;
}

/** Call inside describe. */
export function pageLab(): PageLab {
  const running = inBrowser();
  const lab = clusterWithPointsman(() => SandboxCluster.start(), {
    pointsman: { admin: { address: '127.0.0.1:0', token: TOKEN } },
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
    async open(options) {
      await lab.pointsman.waitUntilReady();
      const tab = await openTab(running.browser, `http://127.0.0.1:${await lab.pointsman.port('admin')}/`, options);
      tabs.push(tab);
      await tab.page.waitForSelector('[data-connection="live"]', { timeout: 20_000 });
      return tab;
    },
  };
}
