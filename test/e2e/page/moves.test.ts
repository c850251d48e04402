// The status page while sessions are parked: their number at the pool and beside the waiting clients.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, it } from 'vitest';
import { HeldSession } from '../../support/applications/held-session.ts';
import { seriousFindings } from '../../support/browser/accessibility.ts';
import { describeInBrowser } from '../../support/browser/chromium.ts';
import { pageLab } from '../../support/browser/page-lab.ts';
import { userlist } from '../../support/clusters/userlist.ts';
import { ADMIN_TOKEN } from '../../support/values/canaries.ts';

/** Sessions are parked so long before a switchover that the cluster has scheduled. */
const BEFORE_MS = 120_000;
const PARKED = 3;

describeInBrowser('sessions that move', () => {
  let directory = '';
  const lab = pageLab(async (cluster) => {
    directory = await mkdtemp(join(tmpdir(), 'pointsman-test-'));
    return {
      hold: { before_switchover: '2min', client_timeout: '10min', outage_timeout: '10min' },
      moves: {
        roles: [cluster.app.user],
        park_timeout: '10min',
        verifiers: { file: await userlist(cluster, directory) },
      },
    };
  });
  const sessions: HeldSession[] = [];
  afterEach(async () => {
    for (const session of sessions.splice(0)) await session.close();
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  it('parked sessions wait for the next server', async () => {
    const { cluster, pointsman } = lab;
    const port = await pointsman.port('write');
    const tabs = {
      light: await lab.open({ colorScheme: 'light' }),
      dark: await lab.open({ colorScheme: 'dark' }),
    };
    for (let count = 0; count < PARKED; count += 1) sessions.push(await HeldSession.open(port, cluster.app));
    const leader = await cluster.leader();
    const send = async (method: string, body?: object): Promise<number> => {
      const headers = { 'content-type': 'application/json' };
      const text = body === undefined ? null : JSON.stringify(body);
      return (await fetch(`${leader.api}/switchover`, { method, headers, body: text })).status;
    };
    const scheduledAt = new Date(Date.now() + BEFORE_MS).toISOString();
    expect(await send('POST', { leader: leader.name, scheduled_at: scheduledAt })).toBe(202);
    await pointsman.operate('/refresh', ADMIN_TOKEN);
    try {
      for (const [colorScheme, tab] of Object.entries(tabs)) {
        await tab.page.locator('.routes').getByText(`${PARKED} parked`).waitFor({ timeout: 60_000 });
        const panel = tab.page.getByRole('region', { name: 'Waiting clients' });
        await panel
          .getByText(`${PARKED} sessions wait for the next server, each for 10 min at most.`)
          .waitFor({ timeout: 30_000 });
        await tab.screenshot(`${colorScheme}-parked`);
        expect(await seriousFindings(tab.page)).toEqual([]);
      }
    } finally {
      expect(await send('DELETE')).toBe(200);
    }
    // Nothing happens: the sessions go back to their server.
    for (const { client } of sessions) expect((await client.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  });
});
